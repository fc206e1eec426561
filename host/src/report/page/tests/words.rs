//! Requests and constraints in words.

use serde_json::json;

use super::{claim, data_of};

#[test]
fn requests_in_words() {
    let mut object = claim("a", json!([]));
    object["spec"]["devices"] = json!({
        "requests": [
            {"name": "old", "deviceClassName": "c", "allocationMode": "All", "adminAccess": true},
            {"name": "new", "exactly": {"deviceClassName": "c", "count": 2, "selectors": [{"cel": {"expression": " true\n"}}, {}]}},
            {"name": "either", "firstAvailable": [{"name": "big", "deviceClassName": "b"}, {"name": "small", "deviceClassName": "s", "count": 3}]},
            "odd",
        ],
        "constraints": [{"matchAttribute": "d/root"}, {"distinctAttribute": "d/root", "requests": ["old", "new"]}, {}],
    });
    let data = data_of(vec![object]);
    assert_eq!(
        data["claims"][0]["requests"],
        json!([
            {"name": "old", "text": "all of class c, admin access"},
            {"name": "new", "text": "2 of class c", "selectors": ["true", ""]},
            {"name": "either/big", "text": "1 of class b"},
            {"name": "either/small", "text": "3 of class s"},
            {"name": "", "text": "1 of class "},
        ])
    );
    assert_eq!(
        data["claims"][0]["constraints"],
        json!([
            "d/root equal in all requests",
            "d/root different in old, new",
            "an unknown constraint on all requests"
        ])
    );
}
