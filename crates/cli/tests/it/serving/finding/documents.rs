//! Uploads, versions, tags and collections, deleting and restoring.

use serde_json::{Value, json};

use super::{Harbour, crawl, found, page, refused, search, upload};

#[test]
fn documents_are_uploaded_listed_and_read_with_their_chunks() {
    let harbour = Harbour::indexed(&[]);
    let api = harbour.server.client();
    let html = "<html lang=en><title>Rope</title><nav>menu</nav><main><h1>Rope</h1>\
                <p>Rope is made of hemp, which is spun and tarred in long sheds by the water.</p></main>";
    let body = json!({
        "url": "https://docs.test/rope", "content": html, "content_type": "text/html",
        "tags": ["Manual"], "metadata": { "author": "Ada" }
    });
    let made = api.post("/documents", &body).expect(201).json();
    assert_eq!(
        (&made["status"], &made["title"]),
        (&json!("created"), &json!("Rope"))
    );
    let id = made["id"].as_str().unwrap();
    let document = api.get(&format!("/documents/{id}")).expect(200).json();
    assert_eq!(document["source"], "upload");
    assert_eq!(document["tags"], json!(["manual"]));
    assert_eq!(document["metadata"]["author"], "Ada");
    assert_eq!(document["language"], "en");
    let content: Vec<char> = document["content"].as_str().unwrap().chars().collect();
    assert!(
        !document["content"].as_str().unwrap().contains("menu"),
        "only what it is about"
    );
    let chunks = api
        .get(&format!("/documents/{id}/chunks"))
        .expect(200)
        .json();
    assert_eq!(chunks["chunks"], document["chunks"]);
    for chunk in chunks["chunks"].as_array().unwrap() {
        let at = |name: &str| chunk[name].as_u64().unwrap() as usize;
        let text: String = content[at("start_char")..at("end_char")].iter().collect();
        assert_eq!(json!(text), chunk["content"]);
    }
    assert_eq!(
        api.post("/documents", &body).expect(200).json()["status"],
        "unchanged"
    );
    assert_eq!(
        api.post("/documents", &body).expect(200).json()["id"],
        id,
        "ids are stable"
    );
    let listed = api.get("/documents?limit=2").expect(200).json();
    assert_eq!(
        (listed["total"].as_u64(), listed["has_more"].as_bool()),
        (Some(5), Some(true))
    );
    assert_eq!(listed["documents"][0]["id"], id);
    let cursor = listed["cursor"].as_str().unwrap();
    let rest = api
        .get(&format!("/documents?cursor={cursor}"))
        .expect(200)
        .json();
    assert_eq!(rest["documents"].as_array().unwrap().len(), 3);
    for (filter, count) in [
        ("source=upload", 1),
        ("source=crawl", 4),
        ("domain=docs.test", 1),
        ("domain=test", 5),
        ("tag=MANUAL", 1),
        ("q=rope", 1),
        ("q=%25", 0),
        ("language=en", 5),
        ("from=2001-01-01", 5),
        ("to=2001-01-01", 0),
        ("deleted=true", 0),
    ] {
        let listed = api.get(&format!("/documents?{filter}")).expect(200).json();
        assert_eq!(listed["total"], json!(count), "{filter}");
    }
    api.get("/documents?source=rumour").expect(400);
    api.get("/documents?cursor=x").expect(400);
    api.get("/documents?collection_id=0b6c9f5e-0000-4000-8000-000000000000")
        .expect(404);
    api.get("/documents/nobody").expect(404);
}

#[test]
fn a_batch_names_what_cannot_be_used_and_takes_the_rest() {
    let harbour = Harbour::indexed(&[]);
    let api = harbour.server.client();
    let crawled = harbour.web.url(0, "/nets");
    let body = json!({ "documents": [
        { "url": "upload:a", "content": "Apples in autumn." },
        { "url": "no url", "content": "x" },
        { "url": "upload:b", "content": "  " },
        { "url": "upload:a", "content": "Apples again." },
        { "url": crawled, "content": "Mine now." },
        { "url": "upload:c", "content": "Pears.", "content_type": "image/png" },
        { "url": "upload:d", "content": "Plums and pears.", "content_type": "text/plain" },
    ] });
    let answer = api.post("/documents/batch", &body).expect(200).json();
    assert_eq!(
        (
            answer["total_submitted"].as_u64(),
            answer["failed_count"].as_u64()
        ),
        (Some(2), Some(5))
    );
    let states: Vec<&str> = answer["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        states,
        [
            "created", "failed", "failed", "failed", "failed", "failed", "created"
        ]
    );
    assert!(
        answer["documents"][4]["message"]
            .as_str()
            .unwrap()
            .contains("was crawled")
    );
    assert_eq!(
        found(&search(&api, "/search", &json!({ "query": "plums" }))),
        ["d"]
    );
    let many: Vec<Value> = (0..51)
        .map(|n| json!({ "url": format!("upload:{n}"), "content": "x" }))
        .collect();
    let reply = api.post("/documents/batch", &json!({ "documents": many }));
    assert_eq!(
        refused(reply, 400, "VALIDATION_ERROR")["details"]["field"],
        "documents"
    );
    api.post("/documents/batch", &json!({ "documents": [] }))
        .expect(400);
    let reply = api.post(
        "/documents",
        &json!({ "url": crawled, "content": "Mine now." }),
    );
    refused(reply, 409, "CONFLICT");
}

#[test]
fn what_is_deleted_is_gone_from_every_index_until_it_is_restored_and_no_crawl_brings_it_back() {
    let harbour = Harbour::indexed(&[]);
    let api = harbour.server.client();
    let nets = || found(&search(&api, "/search", &json!({ "query": "twine" })));
    assert_eq!(nets(), ["nets"]);
    let listed = api.get("/documents?q=nets").expect(200).json();
    let id = listed["documents"][0]["id"].as_str().unwrap().to_owned();
    let document = format!("/documents/{id}");
    api.delete(&document).expect(204);
    assert!(nets().is_empty());
    api.delete(&document).expect(404);
    for path in ["", "/chunks", "/versions", "/diff"] {
        api.get(&format!("{document}{path}")).expect(404);
    }
    assert_eq!(api.get("/documents").expect(200).json()["total"], 3);
    let deleted = api.get("/documents?deleted=true").expect(200).json();
    assert_eq!(deleted["documents"][0]["id"], json!(id));
    let before = api.wait_for_index(|_| true)["pages_read"].as_u64().unwrap();
    crawl(&api, &harbour.web.url(0, "/"));
    api.wait_for_index(|figures| figures["pages_read"].as_u64().unwrap() >= before + 4);
    assert!(nets().is_empty(), "a crawl has brought it back");
    api.act(&format!("{document}/restore")).expect(200);
    assert_eq!(nets(), ["nets"]);
    refused(api.act(&format!("{document}/restore")), 409, "CONFLICT");
    let again = api.act(&format!("{document}/reindex")).expect(200).json();
    assert!(again["message"].as_str().unwrap().contains("no model"));
    assert_eq!(nets(), ["nets"]);
}

#[test]
fn collections_and_tags_are_made_changed_and_removed() {
    let harbour = Harbour::start(super::harbour(), &[]);
    let api = harbour.server.client();
    let document = upload(&api, "rope", "Rope is made of hemp.");
    let document = format!("/documents/{}", document["id"].as_str().unwrap());
    let made = json!({ "name": "manuals", "description": "What comes with the machines" });
    let made = api.post("/collections", &made).expect(201).json();
    refused(
        api.post("/collections", &json!({ "name": "manuals" })),
        409,
        "CONFLICT",
    );
    refused(
        api.post("/collections", &json!({ "name": " " })),
        400,
        "VALIDATION_ERROR",
    );
    let id = made["id"].as_str().unwrap();
    let path = format!("/collections/{id}");
    let sorted = json!({ "collection_id": id });
    let sorted = api.send("PUT", &format!("{document}/collection"), &[], Some(&sorted));
    assert_eq!(sorted.expect(200).json()["collection_id"], id);
    let nobody = json!({ "collection_id": "0b6c9f5e-0000-4000-8000-000000000000" });
    api.send("PUT", &format!("{document}/collection"), &[], Some(&nobody))
        .expect(404);
    let renamed = api.send("PUT", &path, &[], Some(&json!({ "name": "books" })));
    assert_eq!(renamed.expect(200).json()["name"], "books");
    let one = api.get(&path).expect(200).json();
    assert_eq!(
        (one["documents_count"].as_u64(), &one["description"]),
        (Some(1), &Value::Null)
    );
    let within = json!({ "query": "hemp", "collection_ids": [id] });
    assert_eq!(found(&search(&api, "/search", &within)), ["rope"]);
    api.delete(&path).expect(204);
    api.delete(&path).expect(404);
    api.post("/search", &within).expect(404);
    assert_eq!(
        api.get(&document).expect(200).json()["collection_id"],
        Value::Null
    );

    let tags = api.post(
        &format!("{document}/tags"),
        &json!({ "tags": ["Old", "hemp"] }),
    );
    let tags = tags.expect(200).json();
    assert_eq!(
        (&tags[0]["name"], &tags[1]["name"]),
        (&json!("hemp"), &json!("old"))
    );
    let old = tags[1]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        api.post("/tags", &json!({ "name": "OLD" }))
            .expect(201)
            .json()["id"],
        json!(old)
    );
    let tagged = json!({ "query": "hemp", "tag_ids": [old] });
    assert_eq!(found(&search(&api, "/search", &tagged)), ["rope"]);
    api.delete(&format!("{document}/tags/{old}")).expect(204);
    api.delete(&format!("{document}/tags/{old}")).expect(404);
    assert!(found(&search(&api, "/search", &tagged)).is_empty());
    let all = api.get("/tags").expect(200).json();
    assert_eq!(all.as_array().unwrap().len(), 2);
}

#[test]
fn versions_are_kept_and_compared() {
    let harbour = Harbour::indexed(&[]);
    let api = harbour.server.client();
    let document = upload(
        &api,
        "rope",
        "Rope is made of hemp.\n\nIt is tarred.\n\nIt is long.",
    );
    let path = format!("/documents/{}", document["id"].as_str().unwrap());
    api.get(&format!("{path}/diff")).expect(404);
    for text in ["nylon", "steel"] {
        upload(
            &api,
            "rope",
            &format!("Rope is made of {text}.\n\nIt is tarred.\n\nIt is long."),
        );
    }
    let versions = api.get(&format!("{path}/versions")).expect(200).json();
    let numbers: Vec<u64> = versions["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert_eq!(versions["versions"][0]["current"], true);
    let diff = api.get(&format!("{path}/diff")).expect(200).json();
    assert_eq!(
        (diff["from"].as_u64(), diff["to"].as_u64()),
        (Some(2), Some(3))
    );
    let diff = api
        .get(&format!("{path}/diff?from=1&to=3"))
        .expect(200)
        .json();
    assert_eq!(
        (diff["added"].as_u64(), diff["removed"].as_u64()),
        (Some(1), Some(1))
    );
    let lines = diff["hunks"][0]["lines"].as_array().unwrap();
    assert_eq!(
        lines[0],
        json!({ "op": "removed", "text": "Rope is made of hemp." })
    );
    assert_eq!(
        lines[1],
        json!({ "op": "added", "text": "Rope is made of steel." })
    );
    api.get(&format!("{path}/diff?from=9")).expect(404);
    // A page that changes is a new version as well.
    harbour.web.on(
        0,
        "/nets",
        page(
            "Nets",
            "Nets are woven by machines today, and nobody mends them by hand.",
        ),
    );
    crawl(&api, &harbour.web.url(0, "/"));
    api.wait_for_index(|figures| figures["documents_changed"] == 1);
    let nets = api.get("/documents?q=nets").expect(200).json();
    assert_eq!(nets["documents"][0]["version"], 2);
    let old = json!({ "query": "twine" });
    assert!(found(&search(&api, "/search", &old)).is_empty());
}
