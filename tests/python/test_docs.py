"""Everything that people copy: docstrings, pages, the notebook, and the reference that is made of docstrings."""
import doctest
import os
import re
import shutil
import subprocess
import sys
import warnings

from support import PROGRAM, SOURCE, Case

import kanon
from kanon import _functions, policy, results
from kanon._settings import OPTIONS

FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
PAGES = [path for path in sorted(SOURCE.glob("docs/**/*.md")) if "```pycon" in path.read_text(encoding="utf-8")]


class Pages(Case):
    def setUp(self):
        super().setUp()
        for path in (SOURCE / "examples").iterdir():
            shutil.copy(path, self.folder)
        subprocess.run([PROGRAM + "-generate", "1000", "-o", self.folder / "people.csv"], check=True)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def check(self, text, name, flags=doctest.ELLIPSIS):
        said = []
        test = doctest.DocTestParser().get_doctest(text, {"kanon": kanon}, name, name, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
        self.assertEqual(found.failed, 0, "".join(said))
        return found.attempted

    def test_every_page_prints_what_it_says(self):
        self.assertEqual({"python.md", "cookbook.md"} - {path.name for path in PAGES}, set())
        for path in PAGES:
            blocks = re.findall(r"^```pycon\n(.*?)^```$", path.read_text(encoding="utf-8"), re.S | re.M)
            with self.subTest(path.name):
                self.assertGreater(self.check("\n".join(blocks), path.name), 4)

    def test_every_recipe_is_for_the_terminal_and_for_python(self):
        recipes = re.split(r"^(?=\*\*)", (SOURCE / "docs/cookbook.md").read_text(encoding="utf-8"), flags=re.M)[1:]
        self.assertGreater(len(recipes), 10)
        for recipe in recipes:
            name = recipe.splitlines()[0]
            if name.startswith("**From C**"):
                continue
            self.assertIn("```pycon\n", recipe, name)
            self.assertRegex(recipe, r"(?m)(^\$ kanon |^    .*kanon |`--[a-z]+ )", name)

    def test_every_docstring_prints_what_it_says(self):
        documented = [*_functions.COMMANDS, policy.Policy, *(kind for kind in vars(results).values() if isinstance(kind, type))]
        n_run = sum(self.check(thing.__doc__ or "", thing.__name__) for thing in documented)
        self.assertGreater(n_run, 8)

    def test_a_page_that_lies_is_noticed(self):
        with self.assertRaises(AssertionError):
            self.check(">>> 1 + 1\n3\n", "lie")

    def test_everything_public_has_a_docstring(self):
        for name in kanon.__all__:
            thing = getattr(kanon, name)
            self.assertTrue(thing.__doc__, name)
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue(value.__doc__, f"{name}.{member}")

    def test_the_reference_is_that_of_the_docstrings(self):
        made = self.folder / "python-api.md"
        subprocess.run([sys.executable, SOURCE / "bindings/python/make_reference.py", made], check=True)
        kept = (SOURCE / "docs/python-api.md").read_text()
        # A new option is a keyword at once; its row in the table of keywords may follow.
        without = [re.sub(r"^## Keywords$.*?^## ", "## ", text, flags=re.S | re.M) for text in (made.read_text(), kept)]
        self.assertEqual(*without, "PYTHONPATH=build/bindings/python bindings/python/make_reference.py docs/python-api.md")
        known = {option.keyword for option in OPTIONS}
        self.assertLessEqual(set(re.findall(r"^\| `(\w+)` \| [a-z, ]+ \| ", kept, re.M)), known)


class Notebook(Case):
    def test_the_notebook_runs_from_top_to_bottom(self):
        import nbclient
        import nbformat
        book = nbformat.read(SOURCE / "examples/quickstart.ipynb", as_version=4)
        nbformat.validate(book)
        shutil.copy(SOURCE / "examples/ten_people.csv", self.folder)
        nbclient.NotebookClient(book, timeout=120, kernel_name="python3",
                                resources={"metadata": {"path": str(self.folder)}}).execute()
        shown = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
        kinds = {kind for output in shown for kind in output.get("data", {})}
        self.assertLessEqual({"text/html", "image/svg+xml"}, kinds)
        self.assertTrue(any("srcdoc" in output.get("data", {}).get("text/html", "") for output in shown))
