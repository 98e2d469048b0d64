import fs from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const source = path.join(import.meta.dirname, '..')
/** Attributes whose text a person reads or hears. */
const spoken = new Set([
  'alt',
  'aria-label',
  'aria-description',
  'aria-roledescription',
  'label',
  'placeholder',
  'title',
  'hint',
  'error',
  'action',
  'lead',
  'blockedReason',
  'never',
  'text',
])
const hasWord = (text: string) => /\p{L}{2,}/u.test(text)

/** Texts in a TSX file that a reader would see and that did not come from the catalogue, as `line: text`. */
function literals(fileName: string, text: string): string[] {
  const file = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const found: string[] = []
  const add = (node: ts.Node, words: string) =>
    hasWord(words) && found.push(`${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${words.trim()}`)
  /** Strings that an expression may come to: literals, branches of conditions, the fixed parts of templates. */
  function values(node: ts.Expression): void {
    if (ts.isStringLiteralLike(node)) add(node, node.text)
    else if (ts.isTemplateExpression(node))
      add(node, [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join(' '))
    else if (ts.isConditionalExpression(node)) {
      values(node.whenTrue)
      values(node.whenFalse)
    } else if (ts.isBinaryExpression(node) && !isComparison(node)) {
      values(node.left)
      values(node.right)
    } else if (ts.isParenthesizedExpression(node)) values(node.expression)
  }
  function visit(node: ts.Node): void {
    if (ts.isJsxText(node)) add(node, node.text)
    if (ts.isJsxExpression(node) && node.expression && !ts.isJsxAttribute(node.parent)) values(node.expression)
    if (ts.isJsxAttribute(node) && spoken.has(node.name.getText())) {
      if (node.initializer && ts.isStringLiteral(node.initializer)) add(node, node.initializer.text)
      if (node.initializer && ts.isJsxExpression(node.initializer) && node.initializer.expression)
        values(node.initializer.expression)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function isComparison(node: ts.BinaryExpression): boolean {
  return [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken, ts.SyntaxKind.InKeyword].includes(
    node.operatorToken.kind,
  )
}

test('every text on screen comes from the catalogue', () => {
  const files = fs.globSync('**/*.tsx', { cwd: source })
  expect(files.length).toBeGreaterThan(40)
  expect(
    files.flatMap((file) => literals(file, fs.readFileSync(path.join(source, file), 'utf8')).map((each) => `${file}:${each}`)),
  ).toEqual([])
})

test('a text that did not come from it is found wherever it may stand', () => {
  const planted = `const a = <p title="Hello you">Some words {isOn ? 'switched on' : t('x')} {name && \`for \${name}\`}</p>`
  expect(literals('planted.tsx', planted)).toHaveLength(4)
  expect(literals('clean.tsx', `const a = <p className="flex gap" title={t('x')}>{kind === 'bulk' ? t('a') : '→'}</p>`)).toEqual(
    [],
  )
})
