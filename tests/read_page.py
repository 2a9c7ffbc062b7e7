"""A page of kanon's as its tables and its text."""
import html.parser


class Tables(html.parser.HTMLParser):
    """Captions, rows of texts, and all text of the page."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.text, self.row, self.open = [], [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        if tag == "tr":
            self.row = []
            self.tables[-1]["rows"].append(self.row)
        if tag in ("td", "th"):
            self.row.append("")
        self.open = tag if tag in ("td", "th", "caption") else self.open

    def handle_endtag(self, tag):
        if tag in ("td", "th", "caption"):
            self.open = None

    def handle_data(self, data):
        self.text.append(data)
        if self.open == "caption":
            self.tables[-1]["caption"] += data
        elif self.open:
            self.row[-1] += data
