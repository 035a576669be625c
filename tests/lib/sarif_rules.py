"""What SARIF 2.1.0 (OASIS standard, 27 March 2020) demands of a log, as far as ours uses it, by hand: complaints(document) lists
where it does not hold. Sections of the standard are named beside each rule. Properties that the standard does not know are
complaints as well, since its schema allows none outside of property bags."""
import re

LEVELS = {"none", "note", "warning", "error"}
KINDS = {"notApplicable", "pass", "fail", "review", "open", "informational"}
# object: (required, optional)
SHAPES = {
    "log": ({"version", "runs"}, {"$schema", "inlineExternalProperties", "properties"}),  # 3.13
    "run": ({"tool"}, {"invocations", "results", "columnKind", "artifacts", "originalUriBaseIds", "properties", "language",
                       "automationDetails", "defaultEncoding", "taxonomies"}),  # 3.14
    "tool": ({"driver"}, {"extensions", "properties"}),  # 3.18
    "driver": ({"name"}, {"version", "semanticVersion", "informationUri", "rules", "fullName", "organization", "properties"}),  # 3.19
    "rule": ({"id"}, {"name", "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration", "messageStrings",
                      "properties", "deprecatedIds", "relationships"}),  # 3.49
    "configuration": (set(), {"enabled", "level", "rank", "parameters", "properties"}),  # 3.50
    "invocation": ({"executionSuccessful"}, {"exitCode", "commandLine", "arguments", "properties"}),  # 3.20
    "result": ({"message"}, {"ruleId", "ruleIndex", "kind", "level", "locations", "suppressions", "properties", "guid",
                             "partialFingerprints", "fingerprints", "relatedLocations", "codeFlows", "rank"}),  # 3.27
    "message": (set(), {"text", "markdown", "id", "arguments", "properties"}),  # 3.11
    "multiformat": ({"text"}, {"markdown", "properties"}),  # 3.12
    "location": (set(), {"id", "physicalLocation", "logicalLocations", "message", "properties"}),  # 3.28
    "physical": (set(), {"address", "artifactLocation", "region", "contextRegion", "properties"}),  # 3.29
    "artifact-location": (set(), {"uri", "uriBaseId", "index", "description", "properties"}),  # 3.4
    "region": (set(), {"startLine", "startColumn", "endLine", "endColumn", "charOffset", "charLength", "byteOffset",
                       "byteLength", "snippet", "message", "sourceLanguage", "properties"}),  # 3.30
    "content": (set(), {"text", "binary", "rendered", "properties"}),  # 3.3
    "suppression": ({"kind"}, {"guid", "status", "location", "justification", "properties"}),  # 3.35
}
# What a property is, whichever object it is of: the schema's types. "id" is a text but for a location's, a message one but for a result's.
TYPES = {**dict.fromkeys(("$schema", "version", "name", "semanticVersion", "informationUri", "fullName", "organization", "language", "ruleId", "level",
                          "kind", "text", "markdown", "uri", "uriBaseId", "guid", "status", "justification", "columnKind", "helpUri", "sourceLanguage",
                          "commandLine", "defaultEncoding", "binary"), str),
         **dict.fromkeys(("runs", "rules", "results", "locations", "suppressions", "invocations", "extensions", "artifacts", "logicalLocations",
                          "relatedLocations", "codeFlows", "arguments", "taxonomies"), list),
         **dict.fromkeys(("properties", "tool", "driver", "message", "shortDescription", "fullDescription", "help", "defaultConfiguration",
                          "physicalLocation", "artifactLocation", "region", "contextRegion", "snippet", "partialFingerprints"), dict),
         **dict.fromkeys(("executionSuccessful", "enabled"), bool),
         **dict.fromkeys(("ruleIndex", "index", "exitCode", "startLine", "startColumn", "endLine", "endColumn", "charOffset", "charLength",
                          "byteOffset", "byteLength"), int)}
# RFC 3986, a relative reference or a URI: no blank, no control, nothing beyond ASCII, '%' only in front of two digits.
URI = re.compile(r"^(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$")


class Checker:
    def __init__(self):
        self.wrong = []

    def say(self, where, what):
        self.wrong.append(f"{where}: {what}")

    def shape(self, value, name, where):
        """Whether it is an object, of that shape, so that its properties can be looked into."""
        required, optional = SHAPES[name]
        if not isinstance(value, dict):
            self.say(where, "is no object")
            return False
        for key in required - value.keys():
            self.say(where, f"lacks {key}")
        for key in value.keys() - required - optional:
            self.say(where, f"has {key}, which the standard does not know")
        odd = [key for key in value if key in TYPES and not self.is_a(value[key], TYPES[key])]
        for key in odd:
            self.say(f"{where}/{key}", f"is {value[key]!r}, no {TYPES[key].__name__}")
        return not odd

    @staticmethod
    def is_a(value, wanted):
        return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))

    def text(self, value, where, pattern=None):
        if not isinstance(value, str):
            self.say(where, "is no text")
        elif pattern and not pattern.match(value):
            self.say(where, f"{value!r} has not the form that it should have")

    def message(self, value, name, where):
        if self.shape(value, name, where):
            # 3.11.8: text or id
            if "text" not in value and "id" not in value:
                self.say(where, "has neither text nor id")
            for key in ("text", "id", "markdown"):
                if key in value:
                    self.text(value[key], f"{where}/{key}")

    def items(self, owner, key, where):
        rows = owner.get(key, [])
        if not isinstance(rows, list):
            self.say(f"{where}/{key}", "is no array")
            return []
        return [(row, f"{where}/{key}/{index}") for index, row in enumerate(rows)]

    def region(self, value, where):
        if not self.shape(value, "region", where):
            return
        for key in ("startLine", "startColumn", "endLine", "endColumn"):  # 3.30.5 to 3.30.8: integers from 1
            if key in value and (not isinstance(value[key], int) or isinstance(value[key], bool) or value[key] < 1):
                self.say(f"{where}/{key}", "is no number from 1")
        # 3.30.1: a text region begins with startLine; 3.30.7: it ends where it begins, or behind
        if "startLine" not in value:
            self.say(where, "lacks startLine")
        begin = value.get("startLine", 1), value.get("startColumn", 1)
        end = value.get("endLine", begin[0]), value.get("endColumn", 1 << 40)
        if end < begin:
            self.say(where, f"ends at {end}, in front of {begin}")
        if "snippet" in value and self.shape(value["snippet"], "content", f"{where}/snippet"):
            self.text(value["snippet"].get("text", ""), f"{where}/snippet/text")

    def location(self, value, where):
        if not self.shape(value, "location", where) or "physicalLocation" not in value:
            return
        physical = value["physicalLocation"]
        if not self.shape(physical, "physical", where):
            return
        if "artifactLocation" not in physical and "address" not in physical:  # 3.29.2
            self.say(where, "has neither artifactLocation nor address")
        if "artifactLocation" in physical and self.shape(physical["artifactLocation"], "artifact-location", where):
            self.text(physical["artifactLocation"].get("uri", ""), f"{where}/uri", URI)
        if "region" in physical:
            self.region(physical["region"], f"{where}/region")

    def rule(self, value, where):
        if not self.shape(value, "rule", where):
            return
        self.text(value.get("id"), f"{where}/id")
        for key in ("shortDescription", "fullDescription", "help"):
            if key in value:
                self.message(value[key], "multiformat", f"{where}/{key}")
        if "defaultConfiguration" in value and self.shape(value["defaultConfiguration"], "configuration", where):
            if value["defaultConfiguration"].get("level", "warning") not in LEVELS:
                self.say(where, "has a level that is none")

    def result(self, value, rules, where):
        if not self.shape(value, "result", where):
            return
        self.message(value.get("message"), "message", f"{where}/message")
        if value.get("level", "warning") not in LEVELS or value.get("kind", "fail") not in KINDS:
            self.say(where, "has a level or a kind that is none")
        if value.get("kind", "fail") != "fail" and value.get("level", "none") != "none":  # 3.27.10
            self.say(where, "has a level beside a kind other than fail")
        index = value.get("ruleIndex", -1)
        if index != -1 and not (isinstance(index, int) and 0 <= index < len(rules)):  # 3.27.6
            self.say(where, f"ruleIndex {index} is of no rule")
        elif index != -1 and rules[index].get("id") != value.get("ruleId"):  # 3.27.5
            self.say(where, "ruleId and ruleIndex are not of one rule")
        for row, place in self.items(value, "locations", where):
            self.location(row, place)
        for row, place in self.items(value, "suppressions", where):
            if self.shape(row, "suppression", place):
                if row.get("kind") not in ("inSource", "external") or row.get("status", "accepted") not in (
                        "accepted", "underReview", "rejected"):
                    self.say(place, "has a kind or a status that is none")

    def run(self, value, where):
        if not self.shape(value, "run", where) or not self.shape(value.get("tool"), "tool", where):
            return
        driver = value["tool"].get("driver")
        if not self.shape(driver, "driver", f"{where}/driver"):
            return
        self.text(driver.get("name"), f"{where}/driver/name")
        rules = driver.get("rules", [])
        for row, place in self.items(driver, "rules", f"{where}/driver"):
            self.rule(row, place)
        ids = [rule["id"] for rule in rules if isinstance(rule, dict) and isinstance(rule.get("id"), str)]
        if len(ids) != len(rules):
            return
        if len(set(ids)) != len(ids):  # 3.19.23: unique
            self.say(where, "has a rule twice")
        for row, place in self.items(value, "invocations", where):
            self.shape(row, "invocation", place)
        if value.get("columnKind", "utf16CodeUnits") not in ("utf16CodeUnits", "unicodeCodePoints"):  # 3.14.17
            self.say(where, "has a columnKind that is none")
        for row, place in self.items(value, "results", where):
            self.result(row, rules, place)


def complaints(document):
    checker = Checker()
    if checker.shape(document, "log", "log"):
        if document.get("version") != "2.1.0":  # 3.13.2
            checker.say("version", f"is {document.get('version')!r}")
        for row, place in checker.items(document, "runs", ""):
            checker.run(row, place)
    return checker.wrong
