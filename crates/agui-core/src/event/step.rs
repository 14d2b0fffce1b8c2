//! Steps: named spans that may overlap anything.

event! {
    /// Opens a step.
    pub struct StepStarted("STEP_STARTED", tagged) {
        required {
            /// Name of the step; one step of a name is open at a time for each owner.
            step_name: String = "stepName",
        }
        optional {}
    }
}

event! {
    /// Closes a step.
    pub struct StepFinished("STEP_FINISHED", tagged) {
        required {
            /// Name of the step.
            step_name: String = "stepName",
        }
        optional {}
    }
}
