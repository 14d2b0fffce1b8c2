"""Model scripts that walk the kernel's pipelines without a cloud account."""
from __future__ import annotations

import json
from typing import Any

from .base import usage

TEMPLATE = "ROSTemplateFormatVersion: '2015-09-01'\nResources:\n  Vpc:\n    Type: ALIYUN::ECS::VPC\n    Properties:\n      CidrBlock: 10.0.0.0/8\n"


def step(call_id: str, conclusion: dict[str, Any], text: list[str] | None = None) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    if text:
        steps.append({"texts": text})
    steps += [{"tool": {"id": call_id, "name": "complete_step", "args": {"conclusion": conclusion}, "chunk": 200}}, usage(100, 20, 10)]
    return steps


INTENT = {"is_infra_intent": True, "confidence": "high", "cloud_platform": "aliyun", "business_type": "web", "core_requirements": ["one ECS"],
          "hard_constraints": [], "resource_intents": [{"product": "ECS", "action": "create"}], "non_functional": {"region_preference": "cn-hangzhou"}}


def candidate(name: str, index: int) -> dict[str, Any]:
    return {"name": name, "output_path": f"templates/{index}-{name}.yml", "products": ["ECS", "VPC"], "hard_constraints": [],
            "resource_intents": [{"product": "ECS", "action": "create"}], "topology": "VPC -> ECS", "monthly_estimate": "CNY 100",
            "pros": ["simple"], "cons": ["single zone"]}


def template_turns(name: str, index: int, validate: bool = False) -> list[dict[str, Any]]:
    path = f"templates/{index}-{name}.yml"
    mine = {"system": f"生成.*{name}"}
    turns: list[dict[str, Any]] = [
        {"when": {**mine, "last_role": "user"}, "steps": [
            {"reasonings": [f"Designing {name}. "]}, {"texts": [f"Writing {name} ", "template."]},
            {"tool": {"id": f"call_w_{index}", "name": "write_file", "args": {"path": path, "content": TEMPLATE}, "chunk": 64}}, usage(60, 30)]}]
    if validate:
        turns.append({"when": {**mine, "last_role": "tool"}, "steps": [
            {"tool": {"id": f"call_v_{index}", "name": "ros_validate_template", "args": {"template_url": path, "region_id": "cn-hangzhou"}}}, usage(70, 9)]})
    turns.append({"when": {**mine, "last_role": "tool"}, "steps": step(f"call_t_{index}", {
        "template": TEMPLATE, "file_path": path, "region": "cn-hangzhou", "description": f"{name} template"})})
    turns.append({"when": {"system": f"成本预估.*{name}"}, "steps": step(f"call_c_{index}", {
        "monthly_estimate": "询价失败", "currency": "CNY", "resources": [{"type": "ALIYUN::ECS::VPC", "cost": "0"}], "template_fixed": False,
        "deployment_parameters": {}, "hard_constraint_checks": [], "preview_validation": {"succeeded": False, "error": "no cloud in the lab"}}, [f"Pricing {name}."])})
    return turns


def selling(names: list[str], *, ask: bool = False, rich: bool = False, validate: bool = False) -> dict[str, Any]:
    turns: list[dict[str, Any]] = []
    if ask:
        turns.append({"when": {"system": "意图解析", "last_role": "user"}, "steps": [{"texts": ["Let me ask. "]}, {"tool": {"id": "call_ask", "name": "ask_user_question", "args": {
            "question": "Which size?", "options": [{"id": "small", "label": "Small site", "description": "1 node"}, {"id": "large", "label": "Large site"}],
            "allow_free_text": True, "free_text_prompt": "Or describe it"}, "chunk": 40}}, usage(50, 12)]})
        turns.append({"when": {"system": "意图解析", "last_role": "tool"}, "steps": step("call_intent", {**INTENT, "clarification_text": "x", "clarification_choice": "small"})})
    else:
        turns.append({"when": {"system": "意图解析"}, "steps": [{"reasonings": ["The user ", "wants ECS."]}, *step("call_intent", INTENT, ["Understood."])]})
    turns.append({"when": {"system": "架构规划"}, "steps": step("call_arch", {"candidates": [candidate(n, i + 1) for i, n in enumerate(names)]}, ["Planning ", "now."])})
    for i, name in enumerate(names):
        turns += template_turns(name, i + 1, validate)
    options = []
    for i, n in enumerate(names):
        option: dict[str, Any] = {"name": n, "summary": f"{n} summary", "candidate_index": i}
        if rich:
            option.update(architecture_diagram="flowchart LR\n  A[VPC] --> B[ECS]", total_monthly_cost="询价失败",
                          cost_items=[{"name": "ALIYUN::ECS::VPC", "monthly_cost": "0"}])
        options.append(option)
    turns.append({"when": {"system": "方案确认与选择"}, "steps": step("call_select_1", {"user_prompt": "Please choose a plan:", "options": options}, ["Here are the plans."])})
    chosen: dict[str, Any] = {"selected_candidate_name": names[0], "selected_candidate_index": 0, "selected_evaluated_candidate_index": 0}
    if not rich:
        chosen = {"user_prompt": "Please choose a plan:", "options": options, "user_input": names[0], **chosen}
    turns.append({"when": {"system": "方案确认与选择"}, "steps": step("call_select_2", chosen, ["Selected."])})
    turns.append({"when": {"system": "部署", "last_role": "user"}, "steps": step("call_deploy", {"status": "failed", "error": "no cloud in the lab"}, ["Deploying."])})
    turns.append({"when": {"system": "部署", "last_role": "tool"}, "times": 0, "steps": [{"text": "The deployment failed."}, usage(10, 5)]})
    return {"turns": turns}


def asking(conclusion: dict[str, Any]) -> dict[str, Any]:
    script = selling(["cheap-ecs"], ask=True)
    turns = script["turns"][:1] + [{"when": {"system": "意图解析", "last_role": "tool"}, "steps": step("call_intent", conclusion, ["Thanks."])}]
    turns.append({"when": {"system": "意图解析", "last_role": "user"}, "times": 0, "steps": step("call_intent2", conclusion, ["Fallback."])})
    turns.append({"times": 0, "steps": [{"text": "ok"}]})
    return {"turns": turns}


def asking_twice(conclusion: dict[str, Any]) -> dict[str, Any]:
    """One question after the other: of two in one turn of the model the kernel drops the second."""
    script = asking(conclusion)
    question = {"question": "Which region?", "options": [{"id": "north", "label": "North"}, {"id": "south", "label": "South"}],
                "allow_free_text": True, "free_text_prompt": "Or name it"}
    again = [{"tool": {"id": "call_ask_2", "name": "ask_user_question", "args": question, "chunk": 40}}, usage(50, 12)]
    script["turns"].insert(1, {"when": {"system": "意图解析", "last_role": "tool"}, "steps": again})
    return script


def held_pipeline() -> dict[str, Any]:
    script = selling(["cheap-ecs"])
    script["turns"][0]["steps"][1:1] = [{"text": "Looking at "}, {"hold": "h1"}]
    script["turns"].insert(0, {"when": {"no_tool": "complete_step"}, "times": 0, "steps": [{"text": json.dumps({"action": "continue", "reason": "lab"})}]})
    return script


def solution_first() -> dict[str, Any]:
    plan = {"candidates": [{"candidate_name": n, "summary": f"{n} summary", "total_monthly_cost": "¥100/month", "key_tradeoff": "cost"} for n in ("cheap", "ha")]}

    def detail(i: int, name: str) -> dict[str, Any]:
        return {"candidate_index": i, "candidate_name": name, "applicable_scenarios": ["lab"],
                "resource_intents": [{"product": "ECS", "action": "create"}],
                "topology_graph": {"nodes": [{"id": "vpc", "label": "VPC", "product": "VPC"}, {"id": "ecs", "label": "ECS", "product": "ECS", "group": "vpc"}],
                                   "edges": [{"source": "vpc", "target": "ecs", "label": "hosts"}]},
                "resource_inventory": [{"resource_id": "ecs", "product": "ECS", "purpose": "web", "quantity": 1, "lifecycle": "create"}],
                "cost_assumptions": ["list price"], "cost_exclusions": [], "cost_confidence": "low",
                "decision_notes": {"why_recommended": ["cheap"], "problems_solved": ["web"], "pros": ["simple", "fast"], "cons": ["single zone"]}}
    first = {"system": "意图分析、架构规划与方案选择"}
    second = {"system": "实现用户选中的方案"}
    return {"turns": [
        {"when": {**first, "last_role": "user"}, "steps": [{"texts": ["Outline."]}, {"tool": {"id": "call_plan", "name": "show_architecture_plan", "args": plan, "chunk": 200}}, usage(80, 30)]},
        {"when": {**first, "last_role": "tool"}, "steps": [{"tool": {"id": "call_d0", "name": "show_candidate_detail", "args": detail(0, "cheap"), "chunk": 400}}, usage(90, 30)]},
        {"when": {**first, "last_role": "tool"}, "steps": [{"tool": {"id": "call_d1", "name": "show_candidate_detail", "args": detail(1, "ha"), "chunk": 400}}, usage(95, 30)]},
        {"when": {**first, "last_role": "tool"}, "steps": step("call_wait", {"status": "awaiting_selection", "intent": {
            "resource_intents": [{"product": "ECS", "action": "create"}], "hard_constraints": []}})},
        {"when": first, "steps": step("call_sel", {"status": "selected", "selected_candidate_index": 1})},
        {"when": {**second, "last_role": "user"}, "steps": [{"texts": ["Writing the template."]}, {"tool": {"id": "call_wt", "name": "write_file", "args": {"path": "templates/2-ha.yml", "content": TEMPLATE}, "chunk": 64}}, usage(60, 30)]},
        {"when": {**second, "last_role": "tool"}, "steps": [{"tool": {"id": "call_val", "name": "ros_validate_template", "args": {"template_url": "templates/2-ha.yml", "region_id": "cn-hangzhou"}}}, usage(70, 9)]},
        {"when": {**second, "last_role": "tool"}, "steps": step("call_resel", {"status": "reselect_requested", "continue_pipeline": True, "reselect_reason": "no cloud in the lab"})},
        {"times": 0, "steps": [{"text": "Nothing more to do in the lab."}, usage(5, 5)]},
    ]}


def rollback_script() -> dict[str, Any]:
    script = selling(["cheap-ecs"])
    back = {"when": {"system": "架构规划"}, "steps": [{"texts": ["Going back."]}, {"tool": {"id": "call_back", "name": "complete_step", "args": {
        "conclusion": {"candidates": [candidate("cheap-ecs", 1)]}, "rollback_request": {"target_step": "intent_parsing", "reason": "lab rollback"}}}}, usage(30, 9)]}
    again = {"when": {"system": "意图解析"}, "steps": step("call_intent_again", INTENT, ["Once more."])}
    script["turns"].insert(1, back)
    script["turns"].insert(2, again)
    return script
