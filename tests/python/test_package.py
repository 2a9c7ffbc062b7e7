"""Functions, keywords, exceptions, results, policies, types."""
import inspect
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import pyarrow
from support import PACKAGE, ROLES, SOURCE, Case, people, program, write_csv

import kanon
from kanon import _functions, _kanon

ASKED = {"qi": ["age", "zip", "sex"], "sensitive": "illness"}


def results_of(data, release):
    """A result of every command."""
    asked = {**ROLES, "k": 3}
    return {
        "anonymize": release,
        "verify": kanon.verify(release, original=data, **asked),
        "measure": kanon.measure(data, release, **asked),
        "risk": kanon.risk(data, **ROLES),
        "profile": kanon.profile(data),
        "check": kanon.check(data, **asked),
        "compare": kanon.compare(data, **ROLES, k=[2, 5], algorithms=["mondrian", "optimal"]),
        "lattice": kanon.lattice(data, **asked),
        "hierarchy": kanon.hierarchy("make", data, hierarchy={"age": "intervals(10,20)"}),
        "list": kanon.list("models"),
    }


class Keywords(Case):
    def test_every_option_of_a_command_is_a_keyword_of_its_function(self):
        terminal = {"color", "progress", "quiet", "verbose", "help", "version", "policy", "sql"}
        for function in _functions.COMMANDS:
            command = function.__name__
            wanted = {name.replace("-", "_") for name, _, _, _, commands in _kanon.options()
                      if command in commands and name not in terminal}
            has = set(inspect.signature(function).parameters)
            self.assertEqual(wanted - has, set(), command)
            for keyword in wanted:
                self.assertIn(f"\n    {keyword}: ", function.__doc__, command)

    def test_a_misspelt_keyword_gets_the_suggestion_of_the_program(self):
        for misspelt in ("max_supressed", "sensitve", "identifer", "frobnicate", "algorithn", "qy"):
            said = program("anonymize", "x.csv", "--" + misspelt.replace("_", "-"), "1", check=False).stderr
            near = re.search(r"did you mean '--([a-z-]+)'", said)
            failure = self.refused(kanon.UnknownOption, kanon.anonymize, {}, **{misspelt: 1})
            self.assertIsInstance(failure, TypeError)
            self.assertEqual(f"did you mean {near[1].replace('-', '_')}?" in str(failure) if near else True, True, failure)
            self.assertEqual("did you mean" in str(failure), near is not None)
        self.assertIn("takes no 'qi'", str(self.refused(TypeError, kanon.profile, {}, qi="a")))

    def test_values_take_their_forms(self):
        data = people()
        same = [
            {"qi": "age,zip", "k": 3, "model": "l-diversity:l=2", "sensitive": "illness"},
            {"qi": ["age", "zip"], "k": "3", "model": ("l-diversity", {"l": 2}), "sensitive": ["illness"]},
            {"qi": ("age", "zip"), "k": 3, "model": {"l-diversity": {"l": 2, "column": "illness"}}, "sensitive": "illness"},
            {"qi": iter(["age", "zip"]), "model": ["l-diversity:l=2", "k-anonymity:k=3"], "sensitive": "illness"},
        ]
        self.assertEqual(len({kanon.anonymize(data, **options).to_csv() for options in same}), 1)
        tree = {"hierarchy": {"zip": "mask(right)"}, "qi": "zip", "k": 2, "algorithm": "optimal"}
        levels = [{"zip": (1, 2)}, {"zip": range(1, 3)}, {"zip": "1..2"}, "zip=1..2", ["zip=1..2"]]
        self.assertEqual(len({kanon.anonymize(data, **tree, level=level).to_csv() for level in levels}), 1)
        comma = {"a,b": ["1", "1"], "c=d": ["2", "2"]}
        self.assertEqual(list(kanon.anonymize(comma, qi=["a,b", "c=d"], weight={"c=d": 2}, k=2).to_dict()), ["a,b", "c=d"])
        alpha = ("alpha-k", {"alpha": 0.9, "values": ["flu", "flu, bad"]})
        self.assertTrue(kanon.anonymize(data, **ASKED, k=2, model=alpha).models[1].holds)


class Errors(Case):
    def test_an_exception_says_what_it_is_about(self):
        policy = self.folder / "policy.yaml"
        policy.write_text("version: 1\ncolumns:\n  age: {role: quassi}\n")
        failure = self.refused(kanon.UsageError, kanon.anonymize, {"age": [1, 1]}, policy=policy)
        self.assertEqual((failure.code, failure.file, failure.line, failure.character), (2, str(policy), 3, 15))
        failure = self.refused(kanon.UsageError, kanon.Policy, policy.read_text())
        self.assertEqual((failure.file, failure.line), ("policy", 3))
        self.assertEqual(failure.others, ())
        policy.write_text("version: 1\ncolumns:\n  age: {role: quassi}\nsped: 3\n")
        for refuse in (lambda: kanon.Policy.load(policy), lambda: kanon.check({"age": [1, 1]}, policy=policy)):
            failure = self.refused(kanon.UsageError, refuse)
            self.assertEqual([(other.line, other.character, other.code) for other in failure.others], [(4, 1, 2)])
            self.assertEqual([line.split(": ")[0] for line in str(failure).split("\n")], [f"{policy}:3:15", f"{policy}:4:1"])
        failure = self.refused(kanon.UsageError, kanon.anonymize, people(), **ROLES, k=3, max_suppressed="many")
        self.assertEqual(failure.option, "max_suppressed")
        self.assertNotIn("--", str(failure))
        (self.folder / "bad.csv").write_text('age,zip\n1,2\n3\n')
        failure = self.refused(kanon.InputError, kanon.anonymize, self.folder / "bad.csv", qi="age", k=2)
        self.assertEqual((failure.code, failure.line), (3, 3))
        failure = self.refused(kanon.InputError, kanon.anonymize, {"age": ["1", "*", "1"]}, qi="age", k=2)
        self.assertEqual((failure.column, failure.line), ("age", 2))
        failure = self.refused(kanon.NotMet, kanon.anonymize, {"age": [1, 2]}, qi="age", k=2, level={"age": "0..0"},
                               hierarchy={"age": "suppress"}, algorithm="optimal")
        self.assertEqual(failure.code, 1)
        self.assertEqual(self.refused(kanon.ResourceError, kanon.anonymize, people(9000), **ROLES, k=2,
                                      memory="1M").code, 4)
        self.refused(kanon.InputError, kanon.Policy.load, self.folder / "nowhere.yaml")
        self.refused(kanon.UsageError, kanon.anonymize, people(), **ROLES, k=3, on_interrupt="never")

    def test_a_release_that_was_changed_is_refused(self):
        data, asked = people(), {**ROLES, "k": 3}
        release = kanon.anonymize(data, **asked)
        self.assertTrue(kanon.verify(release, original=data, **asked))
        for column, value in (("age", "21"), ("zip", "9999"), ("illness", "plague"), ("sex", "*")):
            changed = release.to_dict()
            changed[column][7] = value
            failure = self.refused(kanon.NotMet, kanon.verify, pyarrow.table(changed), original=data, **asked)
            self.assertIs(failure.result.holds, False)
            verdict = kanon.verify(changed, original=data, **asked, must_hold=False)
            self.assertFalse(verdict)
            self.assertTrue(any(check.state != "holds" for check in verdict.checks))
        fewer = {name: values[:-1] for name, values in release.to_dict().items()}
        self.refused(kanon.NotMet, kanon.verify, fewer, original=data, **asked, max_suppressed=0)

    def test_warnings_are_warnings(self):
        with self.assertWarnsRegex(kanon.KanonWarning, "no model protects it") as caught:
            release = kanon.anonymize(people(), **ROLES, k=3)
        self.assertEqual(caught.filename, __file__)
        self.assertEqual([said["id"] for said in release.facts["warnings"]], ["folds", "unprotected"])
        self.assertIn("no model protects it", release.facts["warnings"][1]["text"])
        self.assertEqual(len(release.warnings), 2)

    def test_a_check_lists_every_problem(self):
        found = kanon.check(people(), policy=kanon.Policy(qi="age", k=3, unlisted="error"))
        self.assertFalse(found)
        self.assertEqual(len(found.problems), 4)


class Results(Case):
    def setUp(self):
        super().setUp()
        self.data = people()
        self.release = kanon.anonymize(self.data, **ROLES, k=3, schema=True)

    def test_every_key_of_the_json_is_an_attribute(self):
        def walk(record, facts):
            for key, value in facts.items():
                found = getattr(record, key.replace("-", "_"))
                if isinstance(value, dict):
                    self.assertEqual(dict(found), {name: found[name] for name in value})
                    walk(found, value)
                elif isinstance(value, list):
                    self.assertEqual(len(found), len(value))
                    for item, fact in zip(found, value):
                        if isinstance(fact, dict):
                            walk(item, fact)
                else:
                    self.assertEqual(found, value)

        for command, result in results_of(self.data, self.release).items():
            with self.subTest(command):
                names = [name for name, value in vars(type(result)).items() if isinstance(value, property)]
                own = {"schema", "codebook", "certificate", "csv", "rows", "policy", "warnings"}
                for name in set(names) - own:
                    getattr(result, name)
                facts = {key: value for key, value in result.facts.items() if key not in own}
                walk(result, facts)
                self.assertTrue(result.text)
                self.refused(AttributeError, getattr, result, "frobnicate")

    def test_the_facts_are_those_of_the_program(self):
        write_csv(self.data, self.folder / "people.csv")
        roles = ["--qi", "age,zip,sex", "--sensitive", "illness", "--identifier", "name", "-k", "3"]
        said = json.loads(program("anonymize", self.folder / "people.csv", *roles, "-q", "-o", "/dev/null", "--json", "-").stdout)
        timed = {"seconds", "peak_bytes", "progress"}
        self.assertEqual({k: v for k, v in self.release.facts.items() if k not in timed},
                         {k: v for k, v in said.items() if k not in timed})

    def test_notebooks_show_the_report(self):
        page = self.release._repr_html_()
        self.assertIn("<iframe srcdoc=", page)
        self.assertIn("&lt;/html&gt;", page)
        self.assertIn("sandbox", page)  # no script, whatever is in the data
        self.assertIsNone(kanon.anonymize(self.data, **ROLES, k=3, report=False).report)
        for command, result in results_of(self.data, self.release).items():
            self.assertTrue(result._repr_html_(), command)
        hostile = {"a": ["<script>x</script>"] * 4, "b": ["1"] * 4}
        risky = kanon.verify(hostile, qi="a", k=9, must_hold=False)
        self.assertNotIn("<script>", risky._repr_html_())

    def test_frontier_and_lattice_are_pictures(self):
        for result in (kanon.compare(self.data, **ROLES, k=[2, 5], algorithms=["mondrian", "optimal"]),
                       kanon.lattice(self.data, **ROLES, k=3)):
            picture = result.plot()
            root = xml.etree.ElementTree.fromstring(picture._repr_svg_())
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertGreater(len(root.findall(".//{*}circle")), 2)
            picture.save(self.folder / "picture.svg")
            self.assertEqual((self.folder / "picture.svg").read_text(), picture.svg)
            self.assertGreater(len(result.rows), 3)
            self.assertTrue(all(isinstance(row.get("classes", row.get("kept_classes")), int) for row in result.rows))

    def test_a_schema_says_what_labels_mean(self):
        self.assertEqual([column["name"] for column in self.release.schema["columns"]], ["age", "zip", "sex", "illness"])
        self.assertIsNone(kanon.anonymize(self.data, **ROLES, k=3).schema)

    def test_a_certificate_is_kept_and_checked(self):
        trees = {"hierarchy": {"age": "intervals(10,20,40)", "zip": "mask(right)", "sex": "suppress"}}
        release = kanon.anonymize(self.data, **ROLES, k=3, certificate=True, **trees)
        path = self.folder / "proof"
        path.write_text(release.certificate)
        self.assertTrue(kanon.verify(release, original=self.data, **ROLES, k=3, certificate=path, **trees))

    def test_results_are_no_pickles(self):
        import pickle
        self.refused(TypeError, pickle.dumps, self.release)


class Policies(Case):
    def test_a_policy_is_saved_and_loaded(self):
        policy = kanon.Policy(**ROLES, k=5, hierarchy={"zip": "mask(right)"}, level={"zip": (0, 3)}, weight={"age": 2},
                              model=("l-diversity", {"column": "illness", "l": 2}), max_suppressed="2%", null=["NA", "a,b"],
                              algorithm=("samarati", {"preference": "relative"}), seed=3)
        policy.save(self.folder / "policy.yaml")
        loaded = kanon.Policy.load(self.folder / "policy.yaml")
        self.assertEqual(kanon.Policy(loaded.text), loaded)
        self.assertEqual(loaded["max_suppressed"], "2%")
        self.assertEqual(loaded["qi"], ["age", "zip", "sex"])
        self.assertEqual(loaded.with_(seed=4)["seed"], "4")
        self.assertNotEqual(loaded.with_(seed=4), loaded)
        write_csv(people(), self.folder / "people.csv")
        self.assertIn("fits", program("check", self.folder / "people.csv", "-p", self.folder / "policy.yaml").stdout)

    def test_the_policy_of_the_manual_is_saved_whole(self):
        text = re.search(r"```yaml\n(.*?)```", (SOURCE / "docs/policy.md").read_text(encoding="utf-8"), re.S)[1]
        policy = kanon.Policy(text)
        self.assertGreater(len(policy), 15)
        saved = policy.with_(seed=policy["seed"])  # written anew, key by key
        self.assertNotEqual(saved.text, text)
        self.assertEqual({name: sorted(value) if isinstance(value, list) else value for name, value in saved.items()},
                         {name: sorted(value) if isinstance(value, list) else value for name, value in policy.items()})

    def test_comments_of_a_policy_stay(self):
        text = "# ours\nversion: 1\ncolumns: {age: quasi}  # why\nmodels: [k-anonymity: {k: 2}]\n"
        (self.folder / "policy.yaml").write_text(text)
        kanon.Policy.load(self.folder / "policy.yaml").save(self.folder / "copy.yaml")
        self.assertEqual((self.folder / "copy.yaml").read_text(), text)

    def test_a_policy_refuses_what_it_cannot_hold(self):
        self.refused(TypeError, kanon.Policy, qi="a", hierarchy={"a": {"leaf": ["1"], "top": ["*"]}})
        self.assertEqual(self.refused(kanon.UsageError, kanon.Policy, qi="a", threads=2).option, "threads")
        self.refused(kanon.UnknownOption, kanon.Policy, qis="a")

    def test_no_output_replaces_what_was_read(self):
        policy, data = self.folder / "policy.yaml", self.folder / "people.csv"
        kanon.Policy(**ROLES, k=3).save(policy)
        write_csv(people(), data)
        for target in (policy, data):
            self.refused(kanon.UsageError, kanon.anonymize, data, policy=policy, output=target)
        self.assertTrue(policy.read_text().startswith("version: 1"))

    def test_a_profile_suggests_a_policy(self):
        policy = kanon.profile(people()).policy
        self.assertIn("qi", policy)
        self.assertTrue(kanon.check(people(), policy=policy))


class Types(Case):
    def run_module(self, *words):
        done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE), "MYPYPATH": str(PACKAGE)})
        return done.returncode, done.stdout + done.stderr

    def test_stubs_agree_with_the_package(self):
        # modules of our own, without stubs, in which names that are imported count as theirs
        (self.folder / "allowed").write_text("kanon\\.(_run|_settings|_spark_[a-z]+|_tables|_types|spark)\\..*\n")
        code, said = self.run_module("mypy.stubtest", "kanon", "--concise", "--allowlist", "allowed",
                                     "--ignore-unused-allowlist")
        self.assertEqual(code, 0, said)

    def test_the_package_and_its_users_are_checked(self):
        (self.folder / "good.py").write_text(
            "import kanon\nrelease = kanon.anonymize({'a': [1]}, qi=['a'], k=2, order='input', hierarchy={'a': 'suppress'})\n"
            "loss: float = release.loss.lm\nkanon.verify(release, original='x.csv', k=2).checks\n")
        (self.folder / "bad.py").write_text(
            "import kanon\nkanon.anonymize('x', kk=2)\nkanon.anonymize('x', order='backwards')\nkanon.anonymize(17)\n"
            "kanon.anonymize('x').to_parquet()\n")
        code, said = self.run_module("mypy", "--strict", "good.py", str(SOURCE / "bindings/python/kanon"))
        self.assertEqual(code, 0, said)
        code, said = self.run_module("mypy", "--strict", "bad.py")
        self.assertEqual(len(re.findall(r"bad.py:\d+: error", said)), 3, said)
