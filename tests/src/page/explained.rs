//! `explain -o html`, and explanations on the page of `simulate`, in the browser.

use serde_json::{Value, json};

use super::browser::{Tab, World};
use super::{gpus, large_items, node, page_of, pod, press, slice, small, template};
use crate::command::{Finished, dractl_with};

fn explain(arguments: &[&str], items: &[Value]) -> Finished {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let all = [&["explain"], arguments, &["-"]].concat();
    dractl_with(&all, list.into_bytes())
}

/// The page about these pods.
fn page_about(arguments: &[&str], items: &[Value]) -> String {
    let finished = explain(&[arguments, &["-o", "html"]].concat(), items);
    assert_eq!((finished.status, &*finished.stderr), (0, ""));
    finished.stdout
}

/// The words of the other forms.
fn in_words(pod: &str, items: &[Value]) -> String {
    let answer = explain(&[pod, "-o", "json"], items).json();
    let sentences = answer["summary"].as_array().expect("sentences").iter();
    let sentences: Vec<&str> = sentences.filter_map(Value::as_str).collect();
    sentences.join(" ")
}

/// What the page says of the pod on which it opened.
const SEEN: &str = "const seen = () => ({title: text('#details h2'), verdict: text('#details .verdict'), answer: text('.answer'), message: text('#details .message'),
    steps: texts('.steps li'), groups: texts('#details .card > summary'), map: texts('#grid .node .name'), mine: all('#grid .mine').length,
    refused: all('#grid .refused').map((e) => e.getAttribute('aria-label').split('  |  ').pop()), hash: location.hash,
    chosen: text('.pod[aria-selected=true] .name'), pods: texts('.pod .name')});";

fn seen(page: &str) -> Option<Value> {
    let mut tab = Tab::open(page, World::default())?;
    let seen = tab.run(&format!("{SEEN} return seen();"));
    assert_eq!(tab.complaints(), [""; 0]);
    Some(seen)
}

#[test]
fn the_page_opens_on_a_pod_that_fits_nowhere() {
    let Some(seen) = seen(&page_about(&["too-large"], &small())) else {
        return;
    };
    let answer = seen["answer"].as_str().expect("an answer");
    assert_eq!(answer, in_words("too-large", &small()));
    let told = "Pod ml/too-large needs 5 devices of class gpu on one node, but no node has that: ";
    assert!(answer.starts_with(told), "{answer}");
    assert_eq!(
        (&seen["title"], &seen["chosen"], &seen["hash"]),
        (
            &json!("ml/too-large"),
            &json!("too-large"),
            &json!("#pod=ml%2Ftoo-large")
        )
    );
    assert_eq!(seen["verdict"], "\u{d7}unschedulable");
    let message = seen["message"].as_str().expect("a message");
    let decided = "Filter \u{b7} unschedulable-and-unresolvable: 0/2 nodes are available";
    assert!(message.starts_with(decided), "{message}");
    // n1 has four, n2 three that are free; nothing was placed before.
    assert_eq!(
        seen["map"],
        json!(["1 node", "n1", "1 node", "n2", "net.example.com fabric"])
    );
    assert_eq!(
        seen["refused"],
        json!(["refused: in use by claim ml/kept (pod ml/old)"])
    );
    let steps = seen["steps"].as_array().expect("steps");
    assert!(steps.contains(&json!("ask for at most 4")), "{steps:?}");
    assert_eq!(seen["groups"].as_array().map(Vec::len), Some(2));
    assert_eq!(seen["pods"], json!(["too-large", "fits", "old"]));
}

/// The map is that of the input; what the pod would get is marked in it.
#[test]
fn a_pod_that_fits_is_shown_where_it_would_run() {
    let Some(mut tab) = Tab::open(&page_about(&["fits"], &small()), World::default()) else {
        return;
    };
    let result = tab.run(&format!(
        "{SEEN} const before = seen();
        const free = all('#grid .mine.free').length, status = text('.chosen .about'), summary = text('#summary'), would = texts('#details .go[data-go=device]');
        await click('#grid .mine');
        return {{before, free, status, summary, would, device: text('#details')}};"
    ));
    assert_eq!(tab.complaints(), [""; 0]);
    let before = &result["before"];
    assert_eq!(before["answer"], in_words("fits", &small()));
    assert_eq!(
        (&before["verdict"], &before["mine"], &result["free"]),
        (&json!("\u{2713}scheduled"), &json!(4), &json!(4))
    );
    assert_eq!(result["status"], "\u{2713} would run here");
    assert_eq!(result["summary"], "1 pod explained: scheduled");
    assert_eq!(result["would"], json!(["gpu-0", "gpu-1", "gpu-2", "gpu-3"]));
    // It needs four, and n2 has three left.
    assert_eq!(
        before["groups"],
        json!([
            "1 node: fits",
            "1 node: 3 of 4 matching devices free, 4 needed: 1 in use"
        ])
    );
    let device = result["device"].as_str().expect("text");
    assert!(
        device.contains("free \u{b7} gpu.example.com on n1")
            && device.contains("ml/fits would get it."),
        "{device}"
    );
}

#[test]
fn a_pod_that_runs_is_shown_where_it_is() {
    let Some(mut tab) = Tab::open(&page_about(&["old"], &small()), World::default()) else {
        return;
    };
    let result = tab.run(&format!(
        "{SEEN} return {{...seen(), statuses: texts('#grid .node:not(.fold) .about'), held: all('#grid .mine.held').length}};"
    ));
    assert_eq!(tab.complaints(), [""; 0]);
    assert_eq!(result["answer"], in_words("old", &small()));
    let told = "would fit on n2. 1 other node would do as well: n1.";
    assert!(
        result["answer"]
            .as_str()
            .is_some_and(|text| text.ends_with(told)),
        "{result}"
    );
    assert_eq!(result["verdict"], "\u{25b8}running");
    assert_eq!(
        (&result["mine"], &result["held"]),
        (&json!(1), &json!(1)),
        "its own device is in use, and its own"
    );
    assert_eq!(result["groups"], json!(["2 nodes: fits"]));
    let statuses = [
        "\u{2713} runs here",
        "\u{2713} would fit",
        "nodes with rack = r2",
    ];
    assert_eq!(result["statuses"], json!(statuses));
}

/// Held by a gate, waiting for a claim that nobody makes, ended, and not to be read.
#[test]
fn pods_that_are_not_tried_say_why() {
    let mut items = small();
    let mut gated = pod("gated", "four");
    gated["spec"]["schedulingGates"] = json!([{"name": "example.com/wait"}]);
    let mut ended = pod("ended", "four");
    ended["status"] = json!({"phase": "Succeeded"});
    let mut broken = pod("broken", "four");
    broken["spec"]["resourceClaims"] = json!([{"name": "dev"}]);
    items.extend([gated, pod("waiting", "nowhere"), ended, broken]);
    for (name, verdict, told) in [
        (
            "gated",
            "unschedulable",
            "its scheduling gates example.com/wait",
        ),
        ("waiting", "waiting", "nowhere"),
        ("ended", "ended", "Pod ml/ended has ended (Succeeded)"),
        ("broken", "input-error", "Pod ml/broken cannot be judged"),
    ] {
        let Some(seen) = seen(&page_about(&[name], &items)) else {
            return;
        };
        assert_eq!(seen["chosen"], name);
        let word = seen["verdict"].as_str().expect("a verdict");
        assert!(word.ends_with(verdict), "{name}: {word}");
        let answer = seen["answer"].as_str().expect("an answer");
        assert_eq!(answer, in_words(name, &items));
        assert!(answer.contains(told), "{name}: {answer}");
    }
}

#[test]
fn all_pods_are_explained_at_once() {
    let Some(mut tab) = Tab::open(&page_about(&["--all"], &small()), World::default()) else {
        return;
    };
    let result = tab.run(&format!(
        "{SEEN} const summary = text('#summary'), opened = seen(), answers = {{}};
        for (const row of [0, 1, 2]) {{ await click(`.pod[data-row=\"${{row}}\"]`); answers[text('#details h2')] = text('.answer'); }}
        return {{summary, chosen: opened.chosen, answers}};"
    ));
    assert_eq!(tab.complaints(), [""; 0]);
    assert_eq!(
        result["summary"],
        "3 pods explained: 1 placed, 1 scheduled, 1 unschedulable"
    );
    // The first that is refused; each in a cluster in which nobody else was placed.
    assert_eq!(result["chosen"], "too-large");
    for name in ["fits", "too-large", "old"] {
        let answer = result["answers"][format!("ml/{name}")]
            .as_str()
            .expect("an answer");
        assert_eq!(answer, in_words(name, &small()), "{name}");
    }
}

#[test]
fn all_pods_are_for_the_page_alone() {
    for arguments in [
        &["--all"][..],
        &["--all", "-o", "json"],
        &["--all", "-o", "html", "-n", "ml"],
        &["--all", "-o", "html", "--after-queue"],
        &["-o", "html"],
    ] {
        let finished = explain(arguments, &small());
        assert_eq!(
            (finished.status, &*finished.stdout),
            (2, ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_same_input_gives_the_same_page() {
    for arguments in [&["too-large"][..], &["--all"]] {
        let [first, second] = [0, 1].map(|_| page_about(arguments, &small()));
        assert_eq!(first, second);
    }
}

/// The pods ahead have devices then, and are told by what became of them.
#[test]
fn after_the_queue_the_map_is_that_of_the_end() {
    let page = page_about(&["too-large", "--after-queue"], &small());
    let Some(mut tab) = Tab::open(&page, World::default()) else {
        return;
    };
    let result = tab.run(
        "return {given: all('#grid .given').length, pods: all('.pod').map((e) => e.getAttribute('aria-label')), map: texts('#grid .node .name')};",
    );
    assert_eq!(result["given"], 4);
    assert_eq!(
        result["pods"],
        json!([
            "ml/too-large, unschedulable",
            "ml/fits, scheduled on n1",
            "ml/old, running on n2"
        ])
    );
    // n1 has nothing left: n2 is nearer now.
    assert_eq!(
        result["map"],
        json!(["1 node", "n2", "1 node", "n1", "net.example.com fabric"])
    );
}

#[test]
fn a_node_that_was_asked_for_is_shown_in_full() {
    let page = page_about(&["too-large", "--node", "n2"], &small());
    let Some(mut tab) = Tab::open(&page, World::default()) else {
        return;
    };
    let result = tab.run(
        "const node = async (name) => { all('#grid .node:not(.fold)').find((e) => e.textContent.startsWith(name)).click(); await frame(); return texts('.lines code'); };
        return {asked: await node('n2'), other: await node('n1'), message: text('#details .message')};",
    );
    let lines = result["asked"].as_array().expect("lines");
    // Its own four, and the two ports of the fabric.
    let told = "request gpu (5 of class gpu): 6 devices looked at, 4 match, 3 free, 2 missing";
    assert!(lines.contains(&json!(told)), "{lines:?}");
    assert_eq!(result["other"], json!([]));
    assert!(
        result["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("Not for ml/too-large: ")),
        "{result}"
    );
}

/// Nodes with the same reasons are one group that opens and closes, the nearest first; its head is a place like any other.
#[test]
fn groups_of_nodes_open_by_keyboard() {
    let mut items = vec![
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}),
        template("three", 3),
        pod("wants-three", "three"),
    ];
    // 60 nodes with one device each, 90 without any.
    for index in 0..150 {
        let name = format!("n{index:03}");
        items.push(node(&name, "r"));
        if index % 5 < 2 {
            let place = json!({"nodeName": name});
            items.push(slice("gpu.example.com", &name, place, gpus(1)));
        }
    }
    let Some(mut tab) = Tab::open(&page_about(&["wants-three"], &items), World::default()) else {
        return;
    };
    let rows = "const rows = () => Number(one('#grid').getAttribute('aria-rowcount'));";
    let before = tab.run(&format!(
        "{rows} one('#grid [tabindex=\"0\"]').focus();
        return {{rows: rows(), heads: all('.fold').map((e) => [e.getAttribute('aria-label'), e.getAttribute('aria-expanded')]), first: text('.node:not(.fold) .name'),
            cards: texts('#details .card > summary'), focus: focused()}};"
    ));
    let near = "60 nodes, 1 of 1 matching device free, 3 needed";
    let far = "90 nodes, no device of class gpu";
    assert_eq!(before["heads"], json!([[near, "false"], [far, "false"]]));
    assert_eq!(before["first"], "n000");
    assert_eq!(
        before["cards"],
        json!([near.replacen(", ", ": ", 1), far.replacen(", ", ": ", 1)])
    );
    assert_eq!(before["focus"], near);
    let shown = before["rows"].as_u64().expect("rows");
    assert!(shown < 100, "{shown} rows of 150 nodes");
    press(&mut tab, "Enter");
    let open = tab.run(&format!(
        "{rows} return [rows(), focused(), one('.fold').getAttribute('aria-expanded')]"
    ));
    let (opened, rest) = (open[0].as_u64().expect("rows"), [&open[1], &open[2]]);
    assert_eq!(rest, [&json!(near), &json!("true")]);
    assert!(opened > shown && opened < 152, "{shown}, then {opened}");
    press(&mut tab, "Enter");
    let closed = tab.run(&format!("{rows} return [rows(), focused()]"));
    assert_eq!(closed, json!([shown, near]));
    // A higher window has room for more of the nearest; the focus is where it was.
    tab.resize(1400, 1400);
    let higher = tab.run(&format!("{rows} await frame(); return [rows(), focused()]"));
    assert!(higher[0].as_u64() > Some(shown), "{shown}, then {higher}");
    assert_eq!(higher[1], near);
    // A search shows what it finds, folded or not, and counts it.
    let found = tab.run(&format!(
        "{rows} await type('node:n149'); const found = [rows(), texts('.node .name')]; await type(''); return found;"
    ));
    assert_eq!(found, json!([2, ["1 of 90 nodes", "n149"]]));
    // What is chosen from the list is shown even if it was folded away.
    let last = tab.run(
        "const card = all('#details details.card')[1]; card.open = true; card.querySelector('details').open = true;
        const link = [...card.querySelectorAll('.go')].pop();
        link.focus(); link.click(); await frame();
        return [text('#details h2'), texts('.node .name').includes('n149'), focused()];",
    );
    assert_eq!(last, json!(["n149", true, "Details"]));
    assert_eq!(tab.complaints(), [""; 0]);
}

/// What no pod can be given does not count as free, and says why.
#[test]
fn devices_of_broken_pools_are_not_free() {
    let mut items = small();
    // n1: one slice of two. n2: a name given twice.
    items[2]["spec"]["pool"]["resourceSliceCount"] = 2.into();
    items[3]["spec"]["devices"][1]["name"] = "gpu-0".into();
    let script = "const statuses = texts('#grid .node .about'), legend = text('#legend'), table = texts('#details td');
        const count = (state) => all(`#grid .${state}`).length, counts = [count('free'), count('unusable'), count('held')];
        await click('#grid .unusable');
        const device = text('#details');
        await click('.node');
        return {statuses, legend, table, counts, device, node: text('#details')};";
    let Some(mut tab) = Tab::open(&page_of(&items), World::default()) else {
        return;
    };
    let seen = tab.run(script);
    assert_eq!(tab.complaints(), [""; 0]);
    let statuses = [
        "0 of 4 free, 4 not usable",
        "0 of 4 free, 3 not usable",
        "nodes with rack = r2",
    ];
    assert_eq!(seen["statuses"], json!(statuses));
    // The two ports are free; gpu-3 of n2 was given before the pool broke.
    assert_eq!(seen["counts"], json!([2, 7, 1]));
    let table = [
        "gpu.example.com",
        "0",
        "1",
        "7",
        "8",
        "net.example.com",
        "2",
        "0",
        "0",
        "2",
    ];
    assert_eq!(seen["table"], json!(table));
    let has = |text: &Value, told: &str| text.as_str().is_some_and(|text| text.contains(told));
    assert!(has(&seen["legend"], "not usable"), "{seen}");
    assert!(
        has(&seen["device"], "its pool is incomplete: 1 of 2 slices"),
        "{seen}"
    );
    assert!(
        has(&seen["node"], "0 of 4 devices free, 4 not usable"),
        "{seen}"
    );
    // Kubernetes 1.31 gave them to pods all the same.
    let old = page_about(&["too-large", "--profile", "1.31"], &items);
    let unusable = Tab::open(&old, World::default())
        .map(|mut tab| tab.run("return all('#grid .unusable').length"));
    assert_eq!(unusable, Some(json!(0)));
}

#[test]
fn no_explained_text_breaks_out() {
    let hostile = "</script><script>broken = true</script><img src=x onerror='broken = true'><!--";
    let mut items = small();
    let expression = format!("device.attributes['gpu.example.com'].model == \"{hostile}\"");
    items[7]["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] =
        json!([{"cel": {"expression": expression}}]);
    items[11]["metadata"]["name"] = hostile.into();
    items[2]["spec"]["devices"][0]["name"] = hostile.into();
    items[0]["metadata"]["name"] = hostile.into();
    items[2]["spec"]["nodeName"] = hostile.into();
    let page = page_about(&[hostile], &items);
    let Some(mut tab) = Tab::open(&page, World::default()) else {
        return;
    };
    let result = tab.run(
        "const answer = text('.answer'), groups = texts('#details .card > summary').join(), map = texts('#grid .node').join();
        await click('#grid .refused');
        return {broken: typeof broken, images: all('img').length, answer, groups, map, device: text('#details')};",
    );
    assert_eq!(tab.complaints(), [""; 0]);
    assert_eq!(
        (&result["broken"], &result["images"]),
        (&json!("undefined"), &json!(0))
    );
    for place in ["answer", "groups", "map", "device"] {
        let text = result[place].as_str().expect("text");
        assert!(text.contains(hostile), "{place}: {text}");
    }
    let world = World {
        scripts: false,
        ..World::default()
    };
    let plain = Tab::open(&page, world)
        .map(|mut tab| tab.run("return [all('img').length, text('.plain')]"));
    let plain = plain.unwrap_or_default();
    assert_eq!(plain[0], 0);
    assert!(
        plain[1].as_str().is_some_and(|text| text.contains(hostile)),
        "{plain}"
    );
}

#[test]
fn without_scripts_the_answer_is_there() {
    let world = World {
        scripts: false,
        ..World::default()
    };
    let Some(mut tab) = Tab::open(&page_about(&["too-large"], &small()), world) else {
        return;
    };
    let told = tab.run(
        "return {title: text('.plain h1'), pod: text('.plain h2'), sentences: texts('.plain p'), steps: texts('.plain li'), cells: texts('.plain td')};",
    );
    assert_eq!(
        (&told["title"], &told["pod"]),
        (
            &json!("dractl explain"),
            &json!("ml/too-large: unschedulable")
        )
    );
    let has = |place: &str, text: &str| {
        let texts = told[place].as_array();
        texts.is_some_and(|texts| texts.contains(&json!(text)))
    };
    assert!(has("sentences", &in_words("too-large", &small())), "{told}");
    assert!(has("steps", "ask for at most 4"), "{told}");
    let row = "3 of 4 matching devices free, 5 needed: 1 in use";
    assert!(has("cells", row) && has("cells", "n2"), "{told}");
}

/// A thousand nodes with their devices named one by one: a page of some megabytes, of which a screenful is drawn.
#[test]
fn a_thousand_nodes_are_explained() {
    let mut items = large_items(1000, 128);
    let mut other = template("other", 1);
    other["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] =
        json!([{"cel": {"expression": "device.attributes['gpu.example.com'].model == 'B200'"}}]);
    items.extend([other, pod("wants-b200", "other")]);
    let nodes = items.iter_mut().filter(|item| item["kind"] == "Node");
    nodes
        .step_by(3)
        .for_each(|node| node["spec"]["unschedulable"] = true.into());
    let page = page_about(&["wants-b200"], &items);
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
    let Some(mut tab) = Tab::open(&page, World::default()) else {
        return;
    };
    let seen = tab.run(
        "const counts = [];
        const count = () => counts.push(document.querySelectorAll('*').length);
        count();
        const cards = texts('#details .card > summary').length, names = texts('#grid .node .name');
        all('.fold')[0].click(); await frame(); count();
        one('#grid').scrollTop = 20000; await frame(); count();
        await click('.pod'); count();
        return {most: Math.max(...counts), cards, first: names.slice(0, 2), refused: all('#grid .refused').length > 0};",
    );
    assert_eq!(tab.complaints(), [""; 0]);
    assert!(
        seen["most"].as_u64().is_some_and(|count| count < 3600),
        "{seen}"
    );
    // None has the model; 334 are unschedulable as well, and further from fitting.
    assert_eq!(seen["cards"], 2);
    assert_eq!(seen["first"], json!(["666 nodes", "node-0001"]));
    assert_eq!(seen["refused"], true);
}
