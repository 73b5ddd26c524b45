"""Whether a compose file holds together: every name that is used is declared, what must be kept has
a volume, nothing but the server can be reached from outside, and nothing runs with more rights than
it needs."""

import sys

import yaml


def problems(compose):
    services = compose["services"]
    for name, service in services.items():
        if "image" not in service:
            yield f"{name}: no image"
        for network in service.get("networks", []):
            if network not in compose["networks"]:
                yield f"{name}: network {network} is not declared"
        for secret in service.get("secrets", []):
            if secret not in compose["secrets"]:
                yield f"{name}: secret {secret} is not declared"
        for other in service.get("depends_on", {}):
            if other not in services:
                yield f"{name}: depends on {other}, which is not there"
            elif "healthcheck" not in services[other]:
                yield f"{name}: waits for {other}, which has no health check"
        for volume in service.get("volumes", []):
            if volume.split(":")[0] not in compose["volumes"]:
                yield f"{name}: volume {volume} is not declared"
        for text in map(str, service.get("environment", {}).values()):
            if "://" in text and "@" in text:
                yield f"{name}: a password stands in its environment"
        if service["image"].startswith("trawl") and "ALL" not in service.get("cap_drop", []):
            yield f"{name}: keeps capabilities"
        if name != "server" and service.get("ports"):
            yield f"{name}: can be reached from outside"
    if not services["postgres"].get("volumes"):
        yield "postgres: loses its data with its container"
    if not compose["networks"]["storage"].get("internal"):
        yield "storage: reaches the outside"


with open(sys.argv[1]) as file:
    found = list(problems(yaml.safe_load(file)))
for problem in found:
    print(problem)
sys.exit(1 if found else 0)
