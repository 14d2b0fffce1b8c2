//! Which sites may talk to this server: the `Host` a request names and the `Origin` it comes from.
//!
//! A web page may make a browser send requests to a server on the same machine. Two checks stop it:
//! a loopback server answers only to loopback names (a page whose own name was re-bound to
//! 127.0.0.1 still sends that name as `Host`), and an `Origin` has to be on an exact list.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Uri, Version};

use crate::ServerError;
use crate::refusal::Refusal;

/// Seconds that a browser may keep the answer to a preflight.
const PREFLIGHT_MAX_AGE_S: HeaderValue = HeaderValue::from_static("600");

/// The hosts and origins that are let in.
#[derive(Debug, Default)]
pub(crate) struct Site {
    hosts: Hosts,
    origins: Vec<Box<str>>,
}

#[derive(Debug, Default)]
enum Hosts {
    /// Whatever a request names; the network in front decides who gets here.
    #[default]
    Any,
    /// Loopback names, and these.
    Known(Vec<Box<str>>),
}

impl Site {
    /// The rules of a server that listens on `addr`.
    ///
    /// # Errors
    /// [`ServerError::Host`] and [`ServerError::Origin`] for entries that could never match.
    pub(crate) fn new(
        addr: IpAddr,
        hosts: Vec<Box<str>>,
        origins: Vec<Box<str>>,
    ) -> Result<Self, ServerError> {
        if let Some(host) = hosts.iter().find(|host| host_of(host.as_bytes()) != Some(host)) {
            return Err(ServerError::Host { host: host.clone() });
        }
        if let Some(origin) = origins.iter().find(|origin| !is_origin(origin)) {
            return Err(ServerError::Origin { origin: origin.clone() });
        }
        let any = hosts.is_empty() && !addr.to_canonical().is_loopback();
        Ok(Self { hosts: if any { Hosts::Any } else { Hosts::Known(hosts) }, origins })
    }

    /// Checks every name that the request gives the server: `Host`, and the target if it has one.
    pub(crate) fn check_host(&self, head: &Parts) -> Result<(), Refusal> {
        let Hosts::Known(known) = &self.hosts else { return Ok(()) };
        let mut values = head.headers.get_all(HOST).iter();
        let (host, second) = (values.next(), values.next());
        let target = head.uri.authority().map(|authority| authority.as_str().as_bytes());
        // HTTP/2 has the authority of the target instead.
        let named = host.is_some() || (head.version >= Version::HTTP_2 && target.is_some());
        if !named || second.is_some() {
            return Err(Refusal::HostNotAllowed);
        }
        for name in [host.map(HeaderValue::as_bytes), target].into_iter().flatten() {
            let allowed = host_of(name).is_some_and(|name| is_loopback(name) || contains(known, name));
            if !allowed {
                return Err(Refusal::HostNotAllowed);
            }
        }
        Ok(())
    }

    /// Checks where the request comes from, if it says so; browsers do, programs do not.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if headers.contains_key(ORIGIN) && self.known_origin(headers).is_none() {
            return Err(Refusal::OriginNotAllowed);
        }
        Ok(())
    }

    /// Whether a browser asks, for a page of an allowed origin, what that page may send.
    pub(crate) fn is_preflight(&self, head: &Parts) -> bool {
        head.method == Method::OPTIONS
            && head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
            && self.known_origin(&head.headers).is_some()
    }

    /// Tells the browser, on whatever answer, that the page may read it.
    pub(crate) fn mark(&self, request: &HeaderMap, answer: &mut HeaderMap) {
        if self.origins.is_empty() {
            return;
        }
        answer.append(VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = self.known_origin(request) {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            // All of them, `Retry-After` and the ids of requests too: there are no cookies that this would not cover.
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
        }
    }

    fn known_origin<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        let mut values = headers.get_all(ORIGIN).iter();
        let origin = values.next()?;
        let known = origin.to_str().is_ok_and(|origin| contains(&self.origins, origin));
        (known && values.next().is_none()).then_some(origin)
    }
}

/// The headers of the answer to a preflight, but for those of [`Site::mark`].
///
/// The header names that the page asks for are granted: what an allowed origin may send is decided
/// by the list of origins.
pub(crate) fn preflight_headers(request: &HeaderMap, methods: HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    if let Some(names) = request.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE_S);
    headers.append(VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    headers
}

fn contains(list: &[Box<str>], name: &str) -> bool {
    list.iter().any(|entry| entry.eq_ignore_ascii_case(name))
}

/// The host of `host[:port]`, brackets of an IPv6 address included.
fn host_of(authority: &[u8]) -> Option<&str> {
    let authority = std::str::from_utf8(authority).ok()?;
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => authority.split_at(rest.find(']')? + 2),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port_is_fine = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    let host_is_fine = !host.is_empty() && !host.contains(['@', '/', ' ']);
    (port_is_fine && host_is_fine).then_some(host)
}

/// Exact names and whole addresses only: `127.0.0.1.evil.example` starts like one and is none.
fn is_loopback(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<Ipv6Addr>().is_ok_and(|addr| addr.to_canonical().is_loopback());
    }
    host.eq_ignore_ascii_case("localhost") || host.parse::<Ipv4Addr>().is_ok_and(|addr| addr.is_loopback())
}

/// `scheme://host[:port]`, as browsers write it.
fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
    !authority.as_str().contains('@') && text == format!("{scheme}://{authority}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn site(addr: IpAddr, hosts: &[&str], origins: &[&str]) -> Result<Site, ServerError> {
        let boxed = |list: &[&str]| list.iter().map(|&entry| entry.into()).collect();
        Site::new(addr, boxed(hosts), boxed(origins))
    }

    fn head(target: &str, hosts: &[&[u8]]) -> Parts {
        let mut request = http::Request::post(target);
        for host in hosts {
            request = request.header(HOST, HeaderValue::from_bytes(host).unwrap());
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn a_loopback_server_answers_only_to_loopback_names() {
        let site = site(LOOPBACK, &["agent.example"], &[]).unwrap();
        let table: &[(&str, &[&[u8]], bool)] = &[
            ("/", &[b"127.0.0.1:8000"], true),
            ("/", &[b"127.8.9.1"], true),
            ("/", &[b"localhost:8000"], true),
            ("/", &[b"LocalHost"], true),
            ("/", &[b"[::1]:8000"], true),
            ("/", &[b"[::ffff:127.0.0.1]"], true),
            ("/", &[b"Agent.Example:443"], true),
            ("http://localhost:8000/", &[b"localhost:8000"], true),
            ("/", &[], false),
            ("/", &[b""], false),
            ("/", &[b"evil.example:8000"], false),
            ("/", &[b"127.0.0.1.evil.example"], false),
            ("/", &[b"localhost.evil.example"], false),
            ("/", &[b"evil.example@localhost"], false),
            ("/", &[b"localhost:80@evil.example"], false),
            ("/", &[b"localhost:"], true),
            ("/", &[b"localhost:x"], false),
            ("/", &[b"[::1"], false),
            ("/", &[b"[::2]"], false),
            ("/", &[b"0.0.0.0"], false),
            ("/", &[b"127.1"], false),
            ("/", &[b"localhost\xff"], false),
            ("/", &[b"localhost", b"localhost"], false),
            ("http://evil.example/", &[b"localhost"], false),
        ];
        for (target, hosts, allowed) in table {
            assert_eq!(site.check_host(&head(target, hosts)).is_ok(), *allowed, "{target} {hosts:?}");
        }
    }

    #[test]
    fn a_public_server_takes_any_host_unless_some_are_named() {
        let public = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let open = site(public, &[], &[]).unwrap();
        assert!(open.check_host(&head("/", &[b"whatever.example"])).is_ok());
        assert!(open.check_host(&head("/", &[])).is_ok());
        let named = site(public, &["agent.example"], &[]).unwrap();
        assert!(named.check_host(&head("/", &[b"agent.example"])).is_ok());
        assert!(named.check_host(&head("/", &[b"whatever.example"])).is_err());
    }

    #[test]
    fn http_2_names_the_host_in_its_target() {
        let site = site(LOOPBACK, &["agent.example"], &[]).unwrap();
        let table: &[(&str, &[&[u8]], bool)] = &[
            ("https://agent.example/", &[], true),
            ("https://agent.example/", &[b"localhost"], true),
            ("https://evil.example/", &[], false),
            ("https://agent.example/", &[b"evil.example"], false),
            ("/", &[], false),
        ];
        for (target, hosts, allowed) in table {
            let mut head = head(target, hosts);
            head.version = Version::HTTP_2;
            assert_eq!(site.check_host(&head).is_ok(), *allowed, "{target} {hosts:?}");
        }
        assert!(site.check_host(&head("https://agent.example/", &[])).is_err());
    }

    #[test]
    fn an_origin_has_to_be_on_the_list_exactly() {
        let site = site(LOOPBACK, &[], &["https://app.example", "http://localhost:3000"]).unwrap();
        let table: &[(&[&str], bool)] = &[
            (&[], true),
            (&["https://app.example"], true),
            (&["http://localhost:3000"], true),
            (&["http://localhost:3001"], false),
            (&["http://app.example"], false),
            (&["https://app.example.evil.example"], false),
            (&["null"], false),
            (&["https://app.example", "https://evil.example"], false),
        ];
        for (origins, allowed) in table {
            let mut headers = HeaderMap::new();
            for origin in *origins {
                headers.append(ORIGIN, HeaderValue::from_static(origin));
            }
            assert_eq!(site.check_origin(&headers).is_ok(), *allowed, "{origins:?}");
            let mut answer = HeaderMap::new();
            site.mark(&headers, &mut answer);
            let marked = answer.get(ACCESS_CONTROL_ALLOW_ORIGIN).map(|origin| origin.to_str().unwrap());
            assert_eq!(marked, origins.first().copied().filter(|_| *allowed), "{origins:?}");
            assert_eq!(answer.get(VARY).unwrap(), "Origin");
        }
    }

    #[test]
    fn entries_that_could_never_match_are_refused() {
        for origin in [
            "",
            "*",
            "null",
            "app.example",
            "https://app.example/",
            "https://a.example/x",
            "https://u@a.example",
        ] {
            assert!(matches!(site(LOOPBACK, &[], &[origin]), Err(ServerError::Origin { .. })), "{origin}");
        }
        for host in ["", "a.example:80", "http://a.example", "a b", "[::1"] {
            assert!(matches!(site(LOOPBACK, &[host], &[]), Err(ServerError::Host { .. })), "{host}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_host_is_what_its_authority_begins_with(authority in proptest::collection::vec(proptest::num::u8::ANY, 0..24)) {
            if let Some(host) = host_of(&authority) {
                proptest::prop_assert!(authority.starts_with(host.as_bytes()));
            }
        }

        #[test]
        fn no_name_below_another_domain_is_loopback(name in "[a-z0-9.:\\[\\]-]{0,20}") {
            let authority = format!("{name}.evil.example");
            let host = host_of(authority.as_bytes());
            proptest::prop_assert!(!host.is_some_and(|host| host.ends_with("evil.example") && is_loopback(host)));
        }
    }
}
