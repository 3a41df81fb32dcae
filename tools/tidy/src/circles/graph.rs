//! Circles of a directed graph.

use std::collections::{BTreeMap, BTreeSet};

/// A strongly connected component: each member can be reached from each other one.
pub struct Circle {
    /// The members, and what each of them uses of the others.
    pub members: Vec<(String, Vec<String>)>,
}

/// All circles of two nodes and more.
pub fn circles(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<Circle> {
    let reachable: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|node| (node, reach(graph, node))).collect();
    let mut placed: BTreeSet<&String> = BTreeSet::new();
    let mut circles = Vec::new();
    for node in graph.keys() {
        if placed.contains(node) {
            continue;
        }
        let forth = &reachable[node];
        let members: BTreeSet<&String> =
            forth.iter().filter(|other| reachable[**other].contains(node)).copied().collect();
        placed.extend(members.iter().copied());
        if members.len() > 1 {
            let used = |member: &String| {
                graph[member].iter().filter(|it| members.contains(it)).cloned().collect()
            };
            let members = members.iter().map(|it| ((*it).clone(), used(it))).collect();
            circles.push(Circle { members });
        }
    }
    circles
}

/// What can be reached from a node in one step and more.
fn reach<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, node: &String) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&String> = graph[node].iter().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&graph[next]);
        }
    }
    found
}
