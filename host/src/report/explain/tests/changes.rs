//! One sentence per change.

use crate::cluster::{Cluster, Settings};
use crate::report::explain::changes::Words;
use crate::report::explain::needs::{Need, RequestNeed};
use crate::stand_ins::change::{Change, Specified};

fn text(text: &str) -> String {
    text.to_owned()
}

fn of() -> Specified {
    Specified {
        claim: text("ns/c"),
        template: None,
    }
}

/// A pod with so many claims, of so many requests each.
fn needs(claims: usize, requests: usize) -> Vec<Need> {
    let request = RequestNeed {
        name: text("gpu"),
        class: text("gpu"),
        count: Some(2),
        admin_access: false,
        selectors: Vec::new(),
    };
    let need = Need {
        name: text("c"),
        claim: Some(text("ns/c")),
        template: None,
        exists: true,
        requests: vec![request; requests],
        constraints: Vec::new(),
    };
    vec![need; claims]
}

fn said(needs: &[Need], ways: &[&[Change]]) -> String {
    let words = Words {
        needs,
        cluster: &Cluster::new(Settings::default()),
    };
    words
        .ways(&ways.iter().map(|way| way.to_vec()).collect())
        .join(", or ")
}

fn fewer(count: u64, instead_of_all: bool) -> Change {
    Change::AskFor {
        of: of(),
        request: text("gpu"),
        count,
        instead_of_all,
    }
}

fn tolerate() -> Change {
    Change::Tolerate {
        of: of(),
        request: text("gpu"),
        key: text("k"),
        value: text("v"),
        effect: text("NoSchedule"),
    }
}

fn free(claim: &str, pods: &[&str], devices: &[&str], own: bool) -> Change {
    Change::FreeClaim {
        claim: text(claim),
        pods: pods.iter().map(|pod| text(pod)).collect(),
        devices: devices.iter().map(|device| text(device)).collect(),
        own,
    }
}

#[test]
fn requests_are_named_where_there_are_several() {
    let constraint = Change::GiveUpConstraint {
        of: of(),
        index: 1,
        attribute: text("d/numa"),
    };
    let dropped = Change::DropRequest {
        of: of(),
        request: text("gpu"),
    };
    for (change, one, two, many) in [
        (
            fewer(1, false),
            "ask for at most 1",
            "ask for at most 1 in request gpu",
            "ask for at most 1 in request gpu of claim ns/c",
        ),
        (
            fewer(1, true),
            "ask for 1 device instead of all",
            "ask for 1 device instead of all in request gpu",
            "ask for 1 device instead of all in request gpu of claim ns/c",
        ),
        (
            fewer(3, true),
            "ask for 3 devices instead of all",
            "ask for 3 devices instead of all in request gpu",
            "ask for 3 devices instead of all in request gpu of claim ns/c",
        ),
        (
            tolerate(),
            "tolerate k=v:NoSchedule in the request",
            "tolerate k=v:NoSchedule in request gpu",
            "tolerate k=v:NoSchedule in request gpu of claim ns/c",
        ),
        (
            constraint,
            "give up the constraint on d/numa",
            "give up the constraint on d/numa",
            "give up the constraint on d/numa in claim ns/c",
        ),
        (
            dropped,
            "leave out request gpu",
            "leave out request gpu",
            "leave out request gpu of claim ns/c",
        ),
    ] {
        for (needs, sentence) in [(needs(1, 1), one), (needs(1, 2), two), (needs(2, 1), many)] {
            assert_eq!(said(&needs, &[std::slice::from_ref(&change)]), sentence);
        }
    }
}

#[test]
fn what_goes_together_and_what_does_instead() {
    let a = free("ns/a", &["ns/x"], &["d/p/g0"], false);
    let b = free("ns/b", &["ns/y", "ns/z"], &["d/p/g1"], false);
    assert_eq!(
        said(
            &needs(1, 1),
            &[&[a.clone(), b], &[fewer(1, false), a], &[tolerate()]]
        ),
        "free g0 and g1, held by claim ns/a (pod ns/x) and claim ns/b (pods ns/y and ns/z), \
         or ask for at most 1 and free g0, held by claim ns/a (pod ns/x), \
         or tolerate k=v:NoSchedule in the request"
    );
}

#[test]
fn the_others() {
    let (node, key, effect) = (text("n"), text("k"), text("NoExecute"));
    for (change, sentence) in [
        (
            free("ns/c", &[], &["d/p/g0"], true),
            "take the allocation off ResourceClaim ns/c, which nobody uses: delete it and create it anew",
        ),
        (
            free("ns/c", &["ns/x"], &["d/p/g0"], true),
            "let ns/x end, so that ResourceClaim ns/c is allocated anew",
        ),
        (
            Change::DeleteClaim {
                claim: text("ns/c"),
            },
            "delete ResourceClaim ns/c, so that one is made for this pod",
        ),
        (
            Change::RemoveTaint {
                devices: vec![text("d/p/g0"), text("d/p/g1")],
                key: key.clone(),
                value: String::new(),
                effect: effect.clone(),
            },
            "take the taint off g0 and g1",
        ),
        (
            Change::DeleteTaintRule { rule: text("r") },
            "delete DeviceTaintRule r",
        ),
        (
            Change::UseClass {
                of: of(),
                from: text("gup"),
                class: text("gpu"),
            },
            "name class gpu instead of gup, which does not exist",
        ),
        (
            Change::CompletePool {
                driver: text("d"),
                pool: text("p"),
                surplus: false,
            },
            "have the driver publish all slices of d/p",
        ),
        (
            Change::CompletePool {
                driver: text("d"),
                pool: text("p"),
                surplus: true,
            },
            "have the driver correct d/p: its slices must be as many as their resourceSliceCount says",
        ),
        (
            Change::EndPods {
                node: node.clone(),
                resource: text("cpu"),
                amount: text("2500m"),
                pods: vec![text("ns/a")],
            },
            "free 2500m of cpu on n, for example by ending ns/a",
        ),
        (
            Change::Uncordon { node: node.clone() },
            "kubectl uncordon n",
        ),
        (
            Change::TolerateNodeTaint {
                key: key.clone(),
                value: String::new(),
                effect: effect.clone(),
            },
            "tolerate k:NoExecute in the pod",
        ),
        (
            Change::RemoveNodeTaint {
                node: node.clone(),
                key,
                effect,
            },
            "take the taint off: kubectl taint node n k:NoExecute-",
        ),
        (
            Change::LabelNode {
                node,
                key: text("zone"),
                value: text("a"),
            },
            "set label zone of n to a",
        ),
        (
            Change::DropNodeSelection {},
            "take node selector and required node affinity out of the pod",
        ),
        (
            Change::AskResource {
                resource: text("cpu"),
                amount: text("4"),
            },
            "ask for at most 4 of cpu",
        ),
    ] {
        assert_eq!(said(&needs(1, 1), &[&[change]]), sentence);
    }
}
