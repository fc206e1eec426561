//! `-o html` in a real browser. Where there is none the tests say so and pass; what the page is made of is tested in the host.

use serde_json::{Value, json};

use crate::command::dractl_with;

mod browser;
mod explained;

use browser::{Tab, World, sheets};

fn node(name: &str, rack: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"rack": rack}}})
}

fn slice(driver: &str, pool: &str, place: Value, devices: Vec<Value>) -> Value {
    let mut slice = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": format!("{driver}-{pool}")},
        "spec": {"driver": driver, "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1}, "devices": devices}});
    for (key, value) in place.as_object().expect("fields") {
        slice["spec"][key] = value.clone();
    }
    slice
}

fn gpus(count: usize) -> Vec<Value> {
    let gpu = |index: usize| json!({"name": format!("gpu-{index}"), "attributes": {"model": {"string": if index == 0 { "L40S" } else { "H100" }}}});
    (0..count).map(gpu).collect()
}

fn pod(name: &str, template: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ml"},
        "spec": {"resourceClaims": [{"name": "dev", "resourceClaimTemplateName": template}]}})
}

fn template(name: &str, count: usize) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": name, "namespace": "ml"},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": count}}]}}}})
}

/// Two nodes with four GPUs, one of which runs a pod, a fabric of one rack, a pod that fits and one that does not.
fn small() -> Vec<Value> {
    let selector = json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r2"]}]}]});
    let mut running = pod("old", "none");
    running["spec"] =
        json!({"nodeName": "n2", "resourceClaims": [{"name": "dev", "resourceClaimName": "kept"}]});
    let held =
        json!([{"request": "gpu", "driver": "gpu.example.com", "pool": "n2", "device": "gpu-3"}]);
    let kept = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "kept", "namespace": "ml"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
        "status": {"allocation": {"devices": {"results": held}}, "reservedFor": [{"resource": "pods", "name": "old", "uid": "u-old"}]}});
    running["metadata"]["uid"] = "u-old".into();
    vec![
        node("n1", "r1"),
        node("n2", "r2"),
        slice("gpu.example.com", "n1", json!({"nodeName": "n1"}), gpus(4)),
        slice("gpu.example.com", "n2", json!({"nodeName": "n2"}), gpus(4)),
        slice(
            "net.example.com",
            "fabric",
            json!({"nodeSelector": selector}),
            vec![json!({"name": "port-0"}), json!({"name": "port-1"})],
        ),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
            "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}}),
        template("four", 4),
        template("five", 5),
        kept,
        running,
        pod("fits", "four"),
        pod("too-large", "five"),
    ]
}

fn page_of(items: &[Value]) -> String {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let finished = dractl_with(
        &["simulate", "-o", "html", "--first-feasible", "-"],
        list.into_bytes(),
    );
    assert!(finished.status <= 1, "{}", finished.stderr);
    finished.stdout
}

/// `nodes` of them, with so many devices each.
fn large_items(nodes: usize, devices: usize) -> Vec<Value> {
    let mut items = vec![
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}),
        template("four", 4),
    ];
    for index in 0..nodes {
        let name = format!("node-{index:04}");
        items.push(node(&name, "r"));
        items.push(slice(
            "gpu.example.com",
            &name,
            json!({"nodeName": name}),
            gpus(devices),
        ));
    }
    items
}

/// The same with 20 pods that fit.
fn large(nodes: usize, devices: usize) -> String {
    let mut items = large_items(nodes, devices);
    items.extend((0..20).map(|index| pod(&format!("p{index}"), "four")));
    page_of(&items)
}

/// The page with other explanations.
fn with_explained(page: &str, explained: &Value) -> String {
    let (before, rest) = page.split_once("\"explained\":").expect("explanations");
    let mut given = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    assert!(matches!(given.next(), Some(Ok(Value::Array(_)))));
    let after = &rest[given.byte_offset()..];
    format!("{before}\"explained\":{explained}{after}")
}

#[test]
fn a_page_shows_pods_and_devices_without_complaint() {
    let Some(mut tab) = Tab::open(&page_of(&small()), World::default()) else {
        return;
    };
    let result = tab.run(
        "return {ready: document.documentElement.dataset.ready, pods: texts('.pod .name'), nodes: texts('.node .name'),
            free: all('.cell.free').length, given: all('#grid .given').length, held: all('#grid .held').length,
            rows: one('#grid').getAttribute('aria-rowcount'), summary: text('#summary'), title: document.title}",
    );
    assert_eq!(tab.complaints(), [""; 0]);
    assert_eq!(
        result,
        // Free: three GPUs of n2, two ports, and one cell in the legend.
        json!({"ready": "true", "pods": ["too-large", "fits", "old"], "nodes": ["n1", "n2", "net.example.com fabric"],
            "free": 6, "given": 4, "held": 1, "rows": "3", "summary": "2 pods: 1 scheduled, 1 unschedulable", "title": "standard input - dractl simulate"})
    );
}

#[test]
fn a_choice_shows_devices_holder_and_reasons() {
    let Some(mut tab) = Tab::open(&page_of(&small()), World::default()) else {
        return;
    };
    let result = tab.run(
        "await click('.pod[data-row=\"1\"]');
        const placed = {mine: all('#grid .mine').length, status: text('.chosen .about'), title: text('#details h2'), hash: location.hash};
        await click('.cell.held[data-device]');
        const device = {title: text('#details h2'), all: text('#details'), mine: all('#grid .mine').length, shown: all('#grid .shown').length};
        await click('#details .go[data-go=pod]');
        const holder = {title: text('#details h2'), mine: all('#grid .mine').length, focus: focused()};
        await click('.pod[data-row=\"0\"]');
        const refused = {all: text('#details'), statuses: texts('#grid .node .about.bad')};
        return {placed, device, holder, refused};",
    );
    assert_eq!(tab.complaints(), [""; 0]);
    let Visited {
        placed,
        device,
        holder,
        refused,
    } = Visited::of(&result);
    assert_eq!(
        *placed,
        json!({"mine": 4, "status": "\u{2713} placed here", "title": "ml/fits", "hash": "#pod=ml%2Ffits"})
    );
    assert_eq!(
        (&device["title"], &device["mine"], &device["shown"]),
        (&json!("gpu-3"), &json!(4), &json!(1))
    );
    for told in [
        "in use before this run",
        "ml/old",
        "ml/kept",
        "model",
        "H100",
        "gpu.example.com",
    ] {
        assert!(
            device["all"]
                .as_str()
                .is_some_and(|text| text.contains(told)),
            "{told}: {device}"
        );
    }
    assert_eq!(
        *holder,
        json!({"title": "ml/old", "mine": 1, "focus": "Details"})
    );
    assert!(
        refused["all"]
            .as_str()
            .is_some_and(|text| text.contains("cannot allocate all claims")
                && text.contains("5 of class gpu")),
        "{refused}"
    );
    assert_eq!(
        refused["statuses"],
        // The nearer one first, each below the line of its group.
        json!([
            "3 of 4 matching devices free, 5 needed: 1 in use",
            "\u{d7} 3 of 4 matching devices free, 5 needed: 1 in use",
            "0 of 4 matching devices free, 5 needed: 4 in use",
            "\u{d7} 0 of 4 matching devices free, 5 needed: 4 in use"
        ])
    );
}

struct Visited<'v> {
    placed: &'v Value,
    device: &'v Value,
    holder: &'v Value,
    refused: &'v Value,
}

impl<'v> Visited<'v> {
    fn of(result: &'v Value) -> Self {
        Self {
            placed: &result["placed"],
            device: &result["device"],
            holder: &result["holder"],
            refused: &result["refused"],
        }
    }
}

#[test]
fn search_filters_everything() {
    let Some(mut tab) = Tab::open(&page_of(&small()), World::default()) else {
        return;
    };
    let result = tab.run(
        "const seen = () => [texts('.pod .name').join(), texts('.node .name').join(), all('#grid .cell:not(.other)').length, text('#found')];
        const found = {};
        for (const query of ['n2', 'L40S', 'pod:fits', 'device:port-1', 'driver:net', 'claim:kept', 'fits N1 gpu-2', 'rack=r1', 'nothing']) {
            await type(query);
            found[query] = seen();
        }
        one('#search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
        found.cleared = seen();
        await click('[data-verdict=scheduled]');
        found.hidden = seen();
        return found;",
    );
    assert_eq!(tab.complaints(), [""; 0]);
    let all = "n1,n2,net.example.com fabric";
    let wanted = json!({
        "n2": ["old", "n2", 4, "1 pod, 1 node, 4 devices"],
        "L40S": ["", "n1,n2", 2, "0 pods, 2 nodes, 2 devices"],
        "pod:fits": ["fits", "n1", 4, "1 pod, 1 node, 4 devices"],
        "device:port-1": ["", "net.example.com fabric", 1, "0 pods, 0 nodes, 1 device"],
        "driver:net": ["", "net.example.com fabric", 2, "0 pods, 0 nodes, 2 devices"],
        "claim:kept": ["old", "n2", 1, "1 pod, 1 node, 1 device"],
        "fits N1 gpu-2": ["fits", "n1", 1, "1 pod, 1 node, 1 device"],
        "rack=r1": ["", "n1", 0, "0 pods, 1 node, 0 devices"],
        "nothing": ["", "", 0, "0 pods, 0 nodes, 0 devices"],
        "cleared": ["too-large,fits,old", all, 10, ""],
        "hidden": ["too-large,old", all, 10, "2 of 3 pods"],
    });
    assert_eq!(result, wanted);
}

#[test]
fn keys_lead_everywhere() {
    let Some(mut tab) = Tab::open(&page_of(&small()), World::default()) else {
        return;
    };
    let refused =
        |free, used| format!("{free} of 4 matching devices free, 5 needed: {used} in use");
    let n1 = format!("node n1, \u{d7} {}", refused(0, 4));
    let n2 = format!("node n2, \u{d7} {}", refused(3, 1));
    let [far, near] = [refused(0, 4), refused(3, 1)].map(|text| format!("1 node, {text}"));
    // At first n2 stands beside n1; of a pod that neither takes, n2 is nearer. The fabric is below both.
    let way = [
        ("/", "search"),
        ("Tab", "Use dark colours"),
        ("Tab", ""),
        ("Tab", ""),
        ("Tab", ""),
        ("Tab", "ml/too-large, unschedulable"),
        ("ArrowDown", "ml/fits, scheduled on n1"),
        ("End", "ml/old, running on n2"),
        ("ArrowDown", "ml/old, running on n2"),
        ("Home", "ml/too-large, unschedulable"),
        ("Tab", "apart"),
        ("Tab", "node n1, 0 of 4 free"),
        ("End", "gpu-3"),
        ("ArrowRight", "node n2, 3 of 4 free"),
        ("ArrowLeft", "gpu-3"),
        ("Shift+Tab", "apart"),
        ("Shift+Tab", "ml/too-large, unschedulable"),
        ("Enter", "ml/too-large, unschedulable"),
        ("Tab", "apart"),
        ("Tab", near.as_str()),
        ("ArrowRight", near.as_str()),
        ("ArrowDown", &n2),
        ("ArrowRight", "gpu-0"),
        ("ArrowRight", "gpu-1"),
        ("ArrowDown", &far),
        ("ArrowDown", &n1),
        ("ArrowRight", "gpu-0"),
        // The first device of a node begins at 272 pixels, the ports at 250 and 270.
        ("ArrowDown", "port-1"),
        ("ArrowLeft", "port-0"),
        ("End", "port-1"),
        ("ArrowDown", "port-1"),
        ("ArrowUp", "gpu-0"),
        ("End", "gpu-3"),
        ("ArrowRight", "gpu-3"),
        ("Home", &n1),
        ("ArrowUp", &far),
        ("ArrowUp", &n2),
        (
            "Control+End",
            "net.example.com fabric, nodes with rack = r2",
        ),
        ("Control+Home", &near),
        ("ArrowDown", &n2),
        ("ArrowRight", "gpu-0"),
        ("Enter", "gpu-0"),
        ("Tab", "Details"),
        ("Shift+Tab", "gpu-0"),
    ];
    let mut went = Vec::new();
    for (key, _) in way {
        press(&mut tab, key);
        went.push(tab.run("return focused()"));
    }
    assert_eq!(went, way.map(|(_, place)| json!(place)));
    let seen = tab.run(
        "const style = getComputedStyle(document.activeElement);
        return {outline: style.outlineStyle, title: text('#details h2'), chosen: text('.pod[aria-selected=true] .name'),
            stops: ['#grid', '#pod-list'].map((box) => all(`${box} [tabindex=\"0\"]`).length)}",
    );
    assert_eq!(
        seen,
        json!({"outline": "solid", "title": "gpu-0", "chosen": "too-large", "stops": [1, 1]})
    );
    press(&mut tab, "Escape");
    assert_eq!(
        tab.run("return [text('#details h2'), focused(), texts('#grid .node .name')]"),
        json!(["Overview", "gpu-0", ["n1", "n2", "net.example.com fabric"]]),
        "the groups are gone, and the focus is where it was"
    );
    for key in ["/", "x", "/"] {
        press(&mut tab, key);
    }
    assert_eq!(
        tab.run("return one('#search').value"),
        "x/",
        "a slash can be searched for"
    );
    press(&mut tab, "Escape");
    assert_eq!(tab.run("return one('#search').value"), "");
    assert_eq!(tab.complaints(), [""; 0]);
}

/// Keys by their numbers on Windows.
fn press(tab: &mut Tab, key: &str) {
    let (modifiers, name) = match key.split_once('+') {
        Some(("Control", name)) => (2, name),
        Some((_, name)) => (8, name),
        None => (0, key),
    };
    let code = match name {
        "Tab" => 9,
        "Enter" => 13,
        "Escape" => 27,
        "End" => 35,
        "Home" => 36,
        "ArrowLeft" => 37,
        "ArrowUp" => 38,
        "ArrowRight" => 39,
        "ArrowDown" => 40,
        "/" => 191,
        _ => 88,
    };
    tab.press(name, code, modifiers);
}

#[test]
fn light_and_dark() {
    let script = "const seen = () => { const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]; };
        const before = seen(), named = text('#theme');
        await click('#theme');
        const after = seen();
        await click('#theme');
        return {before, named, after, again: seen()};";
    let page = page_of(&small());
    let look = |dark| {
        Some(
            Tab::open(
                &page,
                World {
                    dark,
                    ..World::default()
                },
            )?
            .run(script),
        )
    };
    let (Some(light), Some(dark)) = (look(false), look(true)) else {
        return;
    };
    assert_eq!(
        (&light["named"], &dark["named"]),
        (&json!("Dark"), &json!("Light"))
    );
    assert_eq!(light["before"][0], "rgb(255, 255, 255)");
    assert_ne!(light["before"], light["after"]);
    assert_eq!(light["before"], light["again"]);
    assert_eq!(
        (&light["before"], &light["after"]),
        (&dark["after"], &dark["before"])
    );
}

/// As WCAG 2 computes it: 4.5 for text (AA), 3 for what is not text.
#[test]
fn colours_have_contrast_in_both_themes() {
    let script = "const probe = document.createElement('i');
        document.body.append(probe);
        const rgb = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map(Number); };
        const light = (name) => rgb(name).map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const ratio = (a, b) => { const [low, high] = [light(a), light(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
        const low = [];
        const check = (least, fronts, grounds) => { for (const a of fronts) for (const b of grounds) if (!(ratio(a, b) >= least)) low.push(`${a} on ${b}: ${ratio(a, b).toFixed(2)}`); };
        check(4.5, ['text', 'quiet', 'link', 'good', 'bad', 'wait'], ['ground', 'panel']);
        check(4.5, ['text', 'quiet', 'good', 'bad', 'wait'], ['raised', 'mine']);
        check(4.5, ['on-given'], ['given']);
        check(4.5, ['bad'], ['on-bad']);
        check(3, ['edge', 'held', 'given', 'ring'], ['ground']);
        return low;";
    for dark in [false, true] {
        let Some(mut tab) = Tab::open(
            &page_of(&small()),
            World {
                dark,
                ..World::default()
            },
        ) else {
            return;
        };
        assert_eq!(tab.run(script), json!([]), "dark: {dark}");
    }
}

/// What is drawn does not grow with the cluster, whatever is done.
#[test]
fn only_what_is_in_sight_is_drawn() {
    for (nodes, devices, most) in [(1000, 8, 1500), (1000, 128, 2600)] {
        let Some(mut tab) = Tab::open(&large(nodes, devices), World::default()) else {
            return;
        };
        let seen = tab.run(
            "const counts = [];
            const count = () => counts.push(document.querySelectorAll('*').length);
            count();
            one('#grid').scrollTop = 20000; await frame(); count();
            const there = text('.node .name');
            one('#grid').scrollTop = 1e9; await frame(); count();
            const names = texts('.node .name');
            await type('gpu-1'); count();
            await type(''); count();
            await click('.pod'); count();
            one('#grid [tabindex=\"0\"]').focus(); document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'End', ctrlKey: true, bubbles: true})); await frame(); count();
            one('#grid').scrollTop = 0; await frame(); count();
            return {most: Math.max(...counts), rows: one('#grid').getAttribute('aria-rowcount'), there, last: names[names.length - 1], focus: focused()};",
        );
        assert_eq!(tab.complaints(), [""; 0]);
        assert!(
            seen["most"].as_u64().is_some_and(|count| count < most),
            "{seen}"
        );
        assert_eq!(seen["rows"], "1000");
        assert_ne!(seen["there"], "node-0000");
        assert_eq!(seen["last"], "node-0999");
        // Out of sight, but not lost.
        assert!(
            seen["focus"]
                .as_str()
                .is_some_and(|focus| focus.starts_with("node node-0999")),
            "{seen}"
        );
    }
}

#[test]
fn refusals_of_single_devices_are_shown() {
    // Of n1 the first device for one reason, the second and third for another.
    let refused = json!([[0, 0, 1, 0, 0, 0, 2, 0, 1, 2], [1, 3]]);
    let texts = [
        "4 devices, 5 needed",
        "model is L40S",
        "in use by ml/fits",
        "3 devices free, 5 needed",
    ];
    let explained = json!([
        {"pod": "ml/too-large", "summary": ["No.", "Never."], "texts": texts, "refused": refused,
            "nearest": [{"node": "n2", "steps": [["buy two", "rent two"], ["wait"]]}, {"node": null, "steps": [["give up"]]}],
            "groups": [{"text": "3 to 4 devices, 5 needed", "nodes": [[1, 1], [0, 0]]}]},
        {"pod": "ml/no-such-pod", "summary": ["never shown"], "texts": [], "refused": [], "nearest": [], "groups": []},
    ]);
    let Some(mut tab) = Tab::open(
        &with_explained(&page_of(&small()), &explained),
        World::default(),
    ) else {
        return;
    };
    let result = tab.run(
        "const before = all('#grid .refused').length;
        await click('.pod[data-row=\"0\"]');
        const chosen = {refused: all('#grid .refused').map((e) => e.getAttribute('aria-label').split('  |  ').pop()), statuses: texts('#grid .node .about'), answer: text('.answer'), steps: texts('.steps li'), group: text('#details details summary'),
            cards: texts('#details details p')};
        await click('#grid .refused');
        return {before, legend: text('#legend'), chosen, device: text('#details .message')};",
    );
    assert_eq!(tab.complaints(), [""; 0]);
    assert_eq!(result["before"], 0);
    assert!(
        result["legend"]
            .as_str()
            .is_some_and(|text| text.contains("refused"))
    );
    let reasons = [
        "refused: model is L40S",
        "refused: in use by ml/fits",
        "refused: in use by ml/fits",
    ];
    assert_eq!(result["chosen"]["refused"], json!(reasons));
    let statuses = [
        "3 to 4 devices, 5 needed",
        "\u{d7} 3 devices free, 5 needed",
        "\u{d7} 4 devices, 5 needed",
        "nodes with rack = r2",
    ];
    assert_eq!(result["chosen"]["statuses"], json!(statuses));
    assert_eq!(result["chosen"]["answer"], "No. Never.");
    assert_eq!(
        result["chosen"]["steps"],
        json!([
            "one ofbuy tworent two",
            "buy two",
            "rent two",
            "wait",
            "give up"
        ])
    );
    assert_eq!(
        result["chosen"]["group"],
        "2 nodes: 3 to 4 devices, 5 needed"
    );
    let cards = [
        "The numbers are from the least to the most; the map has those of each node.",
        "2 devices: in use by ml/fits",
        "1 device: model is L40S",
    ];
    assert_eq!(result["chosen"]["cards"], json!(cards));
    assert_eq!(result["device"], "Not for ml/too-large: model is L40S");
}

#[test]
fn no_name_breaks_out() {
    let hostile = "</script><script>window.broken = true</script><!-- <img src=x onerror='broken = true'> ]]> {{data}}";
    let mut items = small();
    items[0]["metadata"]["labels"]["rack"] = hostile.into();
    items[2]["spec"]["devices"][0]["name"] = hostile.into();
    items[10]["spec"]["schedulerName"] = hostile.into();
    items[11]["metadata"]["name"] = hostile.into();
    let page = page_of(&items);
    let Some(mut tab) = Tab::open(&page, World::default()) else {
        return;
    };
    let result = tab.run(
        "await click('.pod');
        const pods = texts('.pod .name'), details = text('#details');
        await click('.node:not(.fold)');
        return {broken: window.broken === true, images: all('img').length, pods, details, labels: texts('#details dd'), names: all('#grid .cell').map((e) => e.getAttribute('aria-label').split('  |  ')[0])};",
    );
    assert_eq!(tab.complaints(), [""; 0]);
    let seen = &result;
    assert_eq!(
        (&seen["broken"], &seen["images"]),
        (&json!(false), &json!(0))
    );
    for (place, text) in [("pods", hostile), ("labels", hostile), ("names", hostile)] {
        let texts = seen[place].as_array().expect("texts");
        assert!(texts.contains(&json!(text)), "{place}: {texts:?}");
    }
    let world = World {
        scripts: false,
        ..World::default()
    };
    let plain = Tab::open(&page, world)
        .map(|mut tab| tab.run("return {images: all('img').length, cells: texts('td')}"));
    let plain = plain.unwrap_or_default();
    assert_eq!(plain["images"], 0);
    let cells = plain["cells"].as_array().expect("cells");
    assert!(cells.contains(&json!(hostile)), "{cells:?}");
}

/// The policy in the page itself keeps it from the network, whatever a script tries.
#[test]
fn the_page_is_kept_from_the_network() {
    let Some(mut tab) = Tab::open(&page_of(&small()), World::default()) else {
        return;
    };
    let result = tab.run(
        "let failed = '';
        try { await fetch('http://192.0.2.1/'); } catch (error) { failed = error.name; }
        const image = new Image(); image.src = 'http://192.0.2.1/x.png';
        try { document.body.insertAdjacentHTML('beforeend', '<b>'); } catch (error) { failed += ` ${error.name}`; }
        try { document.body.setAttribute('onclick', 'window.ran = true'); } catch (error) { failed += ` ${error.name}`; }
        document.body.click();
        await frame();
        return {failed, ran: window.ran === true};",
    );
    assert_eq!(
        result,
        json!({"failed": "TypeError TypeError TypeError", "ran": false})
    );
    for directive in ["connect-src", "img-src", "TrustedHTML", "TrustedScript"] {
        assert!(
            tab.complaints().iter().any(|told| told.contains(directive)),
            "{directive}: {:?}",
            tab.complaints()
        );
    }
}

#[test]
fn without_scripts_the_pods_are_in_a_table() {
    let world = World {
        scripts: false,
        ..World::default()
    };
    let Some(mut tab) = Tab::open(&page_of(&small()), world) else {
        return;
    };
    let told = tab.run(
        "const seen = (selector) => all(selector).filter((e) => e.offsetParent).map((e) => e.innerText);
        return {app: one('#app').hidden, table: seen('td'), sentences: seen('p')};",
    );
    assert_eq!(told["app"], true);
    let cells = [
        "ml",
        "fits",
        "scheduled",
        "n1",
        "dev: gpu-0 gpu-1 gpu-2 gpu-3",
        "ml",
        "too-large",
        "unschedulable",
        "-",
    ];
    let table = told["table"].as_array().expect("cells");
    assert_eq!(
        (table.len(), &table[..9]),
        (10, &cells.map(Value::from)[..])
    );
    let sentences = told["sentences"].as_array().expect("sentences");
    assert!(
        sentences.contains(&json!("2 pods: 1 scheduled, 1 unschedulable")),
        "{sentences:?}"
    );
}

/// A window that grows shows more, without a scroll.
#[test]
fn a_higher_window_is_filled() {
    let Some(mut tab) = Tab::open(&large(200, 8), World::default()) else {
        return;
    };
    let mut seen = |height| {
        tab.resize(1400, height);
        tab.run("await frame(); return [texts('.pod').length, texts('#grid .node').length];")
    };
    // A pod has 42 pixels, a line of nodes 35.
    let (low, high) = (seen(300), seen(1200));
    assert!(low[0].as_u64() < Some(20), "{low}");
    assert_eq!(high[0], 20);
    assert!(high[1].as_u64() > low[1].as_u64(), "{low}, then {high}");
    assert_eq!(tab.complaints(), [""; 0]);
}

/// All rows are printed, not only those in sight.
#[test]
fn everything_is_printed() {
    let (Some(few), Some(many)) = (sheets(&large(10, 8)), sheets(&large(400, 8))) else {
        return;
    };
    assert!(few >= 1 && many > few + 3, "{few} and {many} sheets");
}
