//! An object made from its text is the one made from its tree, edited or not.

use serde_json::{Value, json};

use super::{Kind, NotAnObject, Object};

/// The same object made from its tree and from its text.
fn both(value: &Value) -> [Object; 2] {
    let text = value.to_string();
    let metadata = value["metadata"].to_string();
    let start = text.find(&metadata).unwrap();
    let from_text = Object::from_json(
        "example.com/v1",
        Kind::of("example.com/v1", "Thing"),
        value["metadata"].clone(),
        text.into_bytes(),
        start..start + metadata.len(),
    );
    [
        Object::from_value(value.clone()).unwrap(),
        from_text.unwrap(),
    ]
}

fn thing() -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "7"},
        "spec": {"list": [1, {"metadata": {"name": "another"}}]},
    })
}

#[test]
fn tree_and_text_are_the_same_object() {
    let value = thing();
    let [tree, text] = both(&value);
    assert_eq!(tree.id(), text.id());
    assert_eq!(text.id().to_string(), "Thing b/a");
    assert_eq!(text.resource_version(), "7");
    assert_eq!(text.api_version(), tree.api_version());
    assert_eq!(text.metadata(), &value["metadata"]);
    assert_eq!(text.value(), &value);
    assert_eq!(tree.bytes(), text.bytes());
    assert_eq!(text.into_value(), value);
}

#[test]
fn editing_metadata_leaves_the_rest() {
    let mut expected = thing();
    expected["metadata"]["uid"] = json!("a longer one");
    expected["metadata"]["labels"] = json!({"x": "\"}"});
    for object in both(&thing()) {
        for held in [None, Some(object.clone())] {
            let edited = object.clone().with_metadata(|fields| {
                fields["uid"] = json!("a longer one");
                fields.insert("labels".to_owned(), json!({"x": "\"}"}));
            });
            let edited = edited.unwrap();
            assert_eq!(&*edited.id().uid, "a longer one");
            assert_eq!(edited.bytes().as_ref(), expected.to_string().as_bytes());
            // Once more, from the place where metadata stands now.
            let again = edited.with_metadata(|fields| _ = fields.shift_remove("labels"));
            let mut without = expected.clone();
            without["metadata"]
                .as_object_mut()
                .unwrap()
                .shift_remove("labels");
            assert_eq!(again.unwrap().value(), &without);
            assert!(held.is_none_or(|held| held.value() == &thing()));
        }
    }
}

#[test]
fn without_a_name_it_is_no_object() {
    for object in both(&thing()) {
        let unnamed = object.with_metadata(|fields| _ = fields.shift_remove("name"));
        assert_eq!(unnamed.unwrap_err(), NotAnObject::Name);
    }
}
