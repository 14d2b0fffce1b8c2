//! Which path and method lead where.

use std::sync::Arc;

use agui_iac_code::MessageKey;
use http::{HeaderValue, Method};

use crate::error::RouteProblem;
use crate::health::Probe;
use crate::intake::BodyCap;
use crate::percent;
use crate::refusal::Refusal;
use crate::route::Route;
use crate::{Limits, ServerError};

/// Where a request goes.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Run,
    /// Looked at by whoever watches the server, at any time.
    Probe(Probe),
    Extension(Arc<Route>),
}

impl Target {
    /// The cap of the body; `None` if there is none to read.
    pub(crate) fn body_cap(&self, limits: &Limits) -> Option<BodyCap> {
        match self {
            Self::Run => {
                Some(BodyCap { bytes: limits.max_run_body_bytes, message: MessageKey::RunBodyTooLarge })
            }
            Self::Probe(_) => None,
            Self::Extension(route) => route.body_cap,
        }
    }

    /// Whether the answer is a stream of events.
    pub(crate) fn streams(&self) -> bool {
        match self {
            Self::Run => true,
            Self::Probe(_) => false,
            Self::Extension(route) => route.streams,
        }
    }

    /// Whether the connection is to speak another protocol afterwards.
    pub(crate) fn upgrades(&self) -> bool {
        match self {
            Self::Run | Self::Probe(_) => false,
            Self::Extension(route) => route.upgrades,
        }
    }

    /// Whether a call counts against the allowance of its session.
    pub(crate) fn starts_work(&self) -> bool {
        matches!(self, Self::Run) || self.upgrades()
    }

    /// Whether the caller has to prove who it is, if anybody has to.
    pub(crate) fn needs_auth(&self) -> bool {
        match self {
            Self::Run => true,
            Self::Probe(_) => false,
            Self::Extension(route) => !route.open,
        }
    }
}

/// All routes of a server.
#[derive(Debug, Default)]
pub(crate) struct RouteTable {
    patterns: matchit::Router<usize>,
    paths: Vec<PathRoutes>,
}

/// The routes of one path pattern.
#[derive(Debug)]
pub(crate) struct PathRoutes {
    pub(crate) pattern: Arc<str>,
    methods: Vec<(Method, Target)>,
}

/// A path that is known, with what its pattern caught.
pub(crate) struct Found<'a> {
    pub(crate) path: &'a PathRoutes,
    pub(crate) params: Vec<(Box<str>, Box<str>)>,
}

impl RouteTable {
    /// Adds a route.
    ///
    /// # Errors
    /// [`ServerError::Route`] if the pattern is malformed or the method is taken on it.
    pub(crate) fn add(&mut self, method: Method, pattern: &str, target: Target) -> Result<(), ServerError> {
        let fail = |reason| ServerError::Route { path: pattern.into(), reason };
        let path = match self.paths.iter_mut().find(|path| &*path.pattern == pattern) {
            Some(path) => path,
            None => {
                if !pattern.starts_with('/') {
                    return Err(fail(RouteProblem::Pattern));
                }
                self.patterns.insert(pattern, self.paths.len()).map_err(|_| fail(RouteProblem::Pattern))?;
                self.paths.push(PathRoutes { pattern: pattern.into(), methods: Vec::new() });
                self.paths.last_mut().ok_or_else(|| fail(RouteProblem::Pattern))?
            }
        };
        if path.methods.iter().any(|(taken, _)| *taken == method) {
            return Err(fail(RouteProblem::MethodTaken));
        }
        path.methods.push((method, target));
        Ok(())
    }

    /// The routes of `path`, as it stands in the request target.
    pub(crate) fn find(&self, path: &str) -> Result<Found<'_>, Refusal> {
        let matched = self.patterns.at(path).map_err(|_| Refusal::NotFound)?;
        let path = self.paths.get(*matched.value).ok_or(Refusal::NotFound)?;
        let params = matched
            .params
            .iter()
            .map(|(name, value)| Some((name.into(), percent::decode_segment(value)?.into())))
            .collect::<Option<_>>()
            .ok_or(Refusal::NotFound)?;
        Ok(Found { path, params })
    }
}

#[cfg(feature = "axum")]
impl RouteTable {
    /// Every path pattern.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|path| &*path.pattern)
    }
}

impl PathRoutes {
    /// Where `method` leads on this path.
    pub(crate) fn target(&self, method: &Method) -> Result<Target, Refusal> {
        let found = self.methods.iter().find(|(known, _)| known == method);
        found
            .map(|(_, target)| target.clone())
            .ok_or_else(|| Refusal::MethodNotAllowed { allow: self.allow() })
    }

    /// The value of `Allow` for this path.
    pub(crate) fn allow(&self) -> HeaderValue {
        let names: Vec<&str> = self.methods.iter().map(|(method, _)| method.as_str()).collect();
        HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static(""))
    }
}

#[cfg(test)]
mod tests {
    use crate::Health;

    use super::*;

    fn probe() -> Target {
        Target::Probe(Probe::new(|| Health::ok(&())))
    }

    fn table() -> RouteTable {
        let mut table = RouteTable::default();
        table.add(Method::POST, "/", Target::Run).unwrap();
        table.add(Method::GET, "/health", probe()).unwrap();
        table.add(Method::HEAD, "/health", probe()).unwrap();
        table.add(Method::POST, "/x/{id}/cancel", Target::Run).unwrap();
        table
    }

    #[test]
    fn paths_are_matched_whole_and_parameters_decoded() {
        let table = table();
        let id_of = |path: &str| table.find(path).ok().map(|found| found.params);
        assert_eq!(id_of("/"), Some(vec![]));
        assert_eq!(id_of("/x/a%2Fb/cancel"), Some(vec![("id".into(), "a/b".into())]));
        for path in ["/nope", "//", "/health/", "/x/%ff/cancel", "/x//cancel", "/x/a/b/cancel", "*", ""] {
            assert_eq!(id_of(path), None, "{path}");
        }
    }

    #[test]
    fn an_unknown_method_is_told_the_known_ones() {
        let table = table();
        let health = table.find("/health").ok().unwrap();
        let refusal = health.path.target(&Method::DELETE).unwrap_err();
        assert!(matches!(refusal, Refusal::MethodNotAllowed { allow } if allow == "GET, HEAD"));
    }

    #[test]
    fn routes_that_collide_or_make_no_sense_are_refused() {
        let cases = [
            (Method::POST, "/", RouteProblem::MethodTaken),
            (Method::POST, "/x/{other}/cancel", RouteProblem::Pattern),
            (Method::GET, "no-slash", RouteProblem::Pattern),
            (Method::GET, "/{a}{b}", RouteProblem::Pattern),
            (Method::GET, "/{open", RouteProblem::Pattern),
        ];
        for (method, path, expected) in cases {
            let error = table().add(method, path, Target::Run).unwrap_err();
            assert!(matches!(error, ServerError::Route { reason, .. } if reason == expected), "{path}");
        }
    }
}
