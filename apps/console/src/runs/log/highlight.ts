/**
 * Highlights search matches in the rendered rows with the CSS highlight registry, without DOM changes. Matches in the marked line get
 * a stronger color. Returns the cleanup.
 */
export function highlight(box: HTMLElement | null, search: string, marked: number | null): () => void {
  if (!box || !search || !('highlights' in CSS)) return () => {}
  const needle = search.toLowerCase()
  const hits: Range[] = []
  const here: Range[] = []
  for (const row of box.querySelectorAll<HTMLElement>('[data-text]')) {
    const isHere = Number(row.parentElement?.dataset.line) === marked
    const nodes: Text[] = []
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) nodes.push(walker.currentNode as Text)
    const text = nodes
      .map((node) => node.data)
      .join('')
      .toLowerCase()
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
      const range = document.createRange()
      setEdge(nodes, at, (node, offset) => range.setStart(node, offset))
      setEdge(nodes, at + needle.length, (node, offset) => range.setEnd(node, offset))
      ;(isHere ? here : hits).push(range)
    }
  }
  CSS.highlights.set('search-hit', new Highlight(...hits))
  CSS.highlights.set('search-here', new Highlight(...here))
  return () => {
    CSS.highlights.delete('search-hit')
    CSS.highlights.delete('search-here')
  }
}

/** Finds the text node and offset of a position in the joined text. */
function setEdge(nodes: Text[], position: number, set: (node: Text, offset: number) => void): void {
  let rest = position
  for (const node of nodes) {
    if (rest <= node.length) {
      set(node, rest)
      return
    }
    rest -= node.length
  }
}
