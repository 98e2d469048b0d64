import fs from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const source = path.join(import.meta.dirname, '..')
/** Attributes with text for the user. */
const textAttributes = new Set([
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

/** Finds user-visible literals in a TSX file, as `line: text`. */
function literals(fileName: string, text: string): string[] {
  const file = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const found: string[] = []
  const add = (node: ts.Node, words: string) =>
    hasWord(words) && found.push(`${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${words.trim()}`)
  /** Reports the literals an expression can evaluate to: strings, branches of conditions, fixed parts of templates. */
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
    if (ts.isJsxAttribute(node) && textAttributes.has(node.name.getText())) {
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

test('components contain no hard-coded text', () => {
  const files = fs.globSync('**/*.tsx', { cwd: source })
  expect(files.length).toBeGreaterThan(40)
  expect(
    files.flatMap((file) => literals(file, fs.readFileSync(path.join(source, file), 'utf8')).map((each) => `${file}:${each}`)),
  ).toEqual([])
})

test('finds literals in attributes, text, conditions and templates', () => {
  const sample = `const a = <p title="Hello you">Some words {isOn ? 'switched on' : t('x')} {name && \`for \${name}\`}</p>`
  expect(literals('sample.tsx', sample)).toHaveLength(4)
  expect(literals('clean.tsx', `const a = <p className="flex gap" title={t('x')}>{kind === 'bulk' ? t('a') : '→'}</p>`)).toEqual(
    [],
  )
})
