import { InvalidInput } from '../../kernel/errors.ts'
import { FIELDS, type FieldName, fieldOf, type Operator, operatorsOf, readValue } from './fields.ts'

// Hand-written: the grammar is small, and errors must name the position and the valid fields.

/** Syntax tree of a node query. `!=` and `not in` are the `not` of `=`. */
export type NodeQuery =
  | { kind: 'and' | 'or'; of: NodeQuery[] }
  | { kind: 'not'; of: NodeQuery }
  | { kind: 'group'; names: string[] }
  | { kind: 'field'; field: FieldName; key: string; operator: Exclude<Operator, '!='>; values: (string | number)[] }

const MAX_LENGTH = 2000
/** A statement takes at most 65,535 parameters and may contain hundreds of queries. */
const MAX_COMPARISONS = 64
const MAX_DEPTH = 32

type Token = { kind: 'word' | 'text' | 'sign' | 'end'; text: string; at: number }
type Settings = {
  /** Path of the query in the caller's input. */
  path?: string
  /** The existing groups; null where groups are not allowed. */
  groups: { has(name: string): boolean } | null
}

/**
 * Parses a query such as `accelerator.vendor = amd and (tag = prod or label.rack in (a1, a2)) and not memory < 512GiB`. `not`
 * binds tighter than `and`, `and` tighter than `or`. Words with blanks or special characters need quotes.
 * @throws InvalidInput naming the position, the word there and the valid words
 */
export function parseNodeQuery(text: string, { path = 'query', groups }: Settings): NodeQuery {
  const wrong = (at: number, near: string, message: string) =>
    new InvalidInput([
      { path, message: `at character ${at + 1}${near ? `, ${JSON.stringify(near.slice(0, 40))}` : ''}: ${message}` },
    ])
  if (text.length > MAX_LENGTH) throw new InvalidInput([{ path, message: `must have at most ${MAX_LENGTH} characters` }])
  if (!text.trim())
    throw new InvalidInput([{ path, message: 'must contain a query, such as accelerator.vendor = amd and tag = prod' }])
  const tokens = tokenize(text, wrong)
  let next = 0
  let comparisons = 0
  let depth = 0
  const peek = () => tokens[next]!
  const take = () => tokens[next++]!
  const isWord = (token: Token, word: string) => token.kind === 'word' && token.text.toLowerCase() === word
  const isSign = (token: Token, sign: string) => token.kind === 'sign' && token.text === sign
  const rejectAt = (token: Token, message: string) => wrong(token.at, token.text, message)

  function joined(word: 'and' | 'or', part: () => NodeQuery): NodeQuery {
    const parts = [part()]
    while (isWord(peek(), word)) {
      take()
      parts.push(part())
    }
    return parts.length === 1 ? parts[0]! : { kind: word, of: parts }
  }
  const anyOf = (): NodeQuery => joined('or', () => joined('and', oneOf))

  function oneOf(): NodeQuery {
    const token = peek()
    if (!isWord(token, 'not') && !isSign(token, '(')) return comparison()
    if (++depth > MAX_DEPTH) throw rejectAt(token, `not and parentheses can be nested at most ${MAX_DEPTH} deep`)
    take()
    const inner = isSign(token, '(') ? anyOf() : oneOf()
    depth--
    if (!isSign(token, '(')) return { kind: 'not', of: inner }
    if (!isSign(take(), ')'))
      throw rejectAt(tokens[next - 1]!, `expected and, or or ): the ( at character ${token.at + 1} is not closed`)
    return inner
  }

  function comparison(): NodeQuery {
    const token = take()
    if (++comparisons > MAX_COMPARISONS) throw rejectAt(token, `a query has at most ${MAX_COMPARISONS} comparisons`)
    if (token.kind !== 'word' || KEYWORD.test(token.text))
      throw rejectAt(token, token.kind === 'end' ? 'expected a field, but the query ends' : 'expected a field')
    if (token.text.toLowerCase() === 'group') return group(token)
    const { field, key } = fieldNamed(token)
    const { kind } = fieldOf(field)
    const { operator, isNot } = operatorAfter(token, operatorsOf(kind))
    const values = valuesFor(operator).map((value) => {
      const read = readValue(kind, operator, value.text)
      if ('wrong' in read) throw rejectAt(value, `${token.text} ${read.wrong}`)
      return read.value
    })
    return negated(isNot, { kind: 'field', field, key, operator, values })
  }

  function fieldNamed(token: Token): { field: FieldName; key: string } {
    const [, key] = /^label\.(.+)$/is.exec(token.text) ?? []
    if (key) return { field: 'label.KEY', key }
    const name = token.text.toLowerCase()
    if (Object.hasOwn(FIELDS, name)) return { field: name as FieldName, key: '' }
    throw rejectAt(token, `unknown field; fields are ${[...Object.keys(FIELDS), ...(groups ? ['group'] : [])].join(', ')}`)
  }

  function operatorAfter(field: Token, allowed: readonly Operator[]): { operator: Exclude<Operator, '!='>; isNot: boolean } {
    const first = take()
    const isNot = isWord(first, 'not') && isWord(peek(), 'in')
    const token = isNot ? take() : first
    const operator = allowed.find((each) => (each === 'in' ? isWord(token, each) : isSign(token, each)))
    if (!operator) throw rejectAt(token, `expected ${allowed.join(' ')} or not in after ${field.text}`)
    return operator === '!=' ? { operator: '=', isNot: true } : { operator, isNot }
  }

  function valuesFor(operator: Operator): Token[] {
    if (operator !== 'in') return [value()]
    if (!isSign(take(), '(')) throw rejectAt(tokens[next - 1]!, 'expected a list such as (a, b) after in')
    const values = [value()]
    while (isSign(peek(), ',')) {
      take()
      values.push(value())
    }
    if (!isSign(take(), ')')) throw rejectAt(tokens[next - 1]!, 'expected a comma or ) in the list')
    return values
  }

  function value(): Token {
    const token = take()
    if (token.kind === 'text' || (token.kind === 'word' && !KEYWORD.test(token.text))) return token
    if (token.kind === 'end') throw rejectAt(token, 'expected a value, but the query ends')
    throw rejectAt(token, 'expected a value; quote it if it is a reserved word or has special characters')
  }

  function group(field: Token): NodeQuery {
    if (!groups)
      throw rejectAt(field, 'the query of a group cannot refer to groups; make one group the parent of the other instead')
    const { operator, isNot } = operatorAfter(field, ['=', '!=', 'in'])
    const names = valuesFor(operator).map((name) => {
      if (groups.has(name.text)) return name.text
      throw rejectAt(name, `unknown group ${name.text}`)
    })
    return negated(isNot, { kind: 'group', names })
  }

  const query = anyOf()
  if (peek().kind !== 'end') throw rejectAt(peek(), 'expected and, or or the end of the query')
  return query
}

const negated = (isNot: boolean, of: NodeQuery): NodeQuery => (isNot ? { kind: 'not', of } : of)

const KEYWORD = /^(and|or|not|in)$/i
const TOKEN =
  /\s+|(?<word>[^\s()=!~<>,"'{}\\&|]+)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>(?:[^'\\]|\\.)*)'|(?<sign>!=|<=|>=|[=~<>(),])/suy

function tokenize(text: string, wrong: (at: number, near: string, message: string) => InvalidInput): Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const match = TOKEN.exec(text)
    if (!match) {
      if (/["']/.test(text[at]!)) throw wrong(at, text.slice(at), 'the quote is never closed')
      throw wrong(at, text[at]!, 'unexpected character; operators are and, or, not, parentheses, = != ~ < <= > >= and in')
    }
    const { word, double, single, sign } = match.groups!
    const quoted = double ?? single
    if (/[\u0000-\u001f\u007f]/.test(word ?? quoted ?? '')) throw wrong(at, '', 'a query must not contain control characters')
    if (word !== undefined) tokens.push({ kind: 'word', text: word, at })
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted.replace(/\\(.)/gsu, '$1'), at })
    else if (sign) tokens.push({ kind: 'sign', text: sign, at })
  }
  return [...tokens, { kind: 'end', text: '', at: text.length }]
}
