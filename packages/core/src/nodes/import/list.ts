import { InvalidInput } from '../../kernel/errors.ts'
import { expandHostlist, splitHostlist } from '../../selection/index.ts'
import { type Draft, draft, MAX_ROWS, nameFromHost, splitHostPort, tooMany } from './draft.ts'

/**
 * Parses addresses and hostlists, one per line or separated by commas: `host`, `user@host:port`, `[IPv6]:port`, `name=host`,
 * `gpu[001-064]`, `gpu[1-4]=10.0.0.[11-14]`. A `#` starts a comment.
 */
export function parseList(text: string): Draft[] {
  const drafts: Draft[] = []
  for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
    const plain = line.replace(/(^|\s)#.*$/, '').trim()
    if (plain === '') continue
    drafts.push(...parseLine(i + 1, plain))
    if (drafts.length > MAX_ROWS) throw tooMany()
  }
  return drafts
}

function parseLine(row: number, line: string): Draft[] {
  try {
    return splitHostlist(line).flatMap((part) => {
      try {
        return parsePart(row, part)
      } catch (error) {
        return [broken(row, part, error)]
      }
    })
  } catch (error) {
    return [broken(row, line, error)]
  }
}

function broken(row: number, source: string, error: unknown): Draft {
  if (!(error instanceof InvalidInput)) throw error
  return { ...draft(row, source), issues: error.issues.map(({ message }) => ({ path: 'host', message })) }
}

function parsePart(row: number, part: string): Draft[] {
  const [, left, address = ''] = /^(?:([^=]*)=)?(.*)$/s.exec(part)!
  const [, sshUser, place = ''] = /^(?:(.*)@)?([^@]*)$/s.exec(address.trim())!
  const { host, port } = splitHostPort(place)
  const hosts = host.startsWith('[') && host.includes(':') ? [host] : expand(host)
  const names = left === undefined ? hosts.map(nameFromHost) : expand(left.trim())
  if (names.length !== hosts.length)
    throw new InvalidInput([{ path: '', message: `${names.length} names for ${hosts.length} addresses` }])
  return hosts.map((one, i) =>
    draft(row, part, {
      name: names[i]!,
      host: one,
      ...(port === undefined ? {} : { port }),
      ...(sshUser === undefined ? {} : { sshUser }),
    }),
  )
}

function expand(text: string): string[] {
  const names = expandHostlist(text, { max: MAX_ROWS })
  return names.length === 0 ? [''] : names
}
