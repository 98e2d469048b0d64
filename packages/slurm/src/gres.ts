import { parseCount } from './text.ts'

/** Generic resources of one name and type, such as 4 GPUs of type h100. */
export interface Gres {
  /** gpu, shard, mps or a name that the site chose. */
  name: string
  /** h100, h100_1g.10gb; null when the configuration names no type. */
  type: string | null
  count: number
  /** Used devices as Slurm numbers them, `0-3`; only where Slurm prints them. MIG devices are numbered after whole ones. */
  indexes: string | null
}

/** Trackable resources by Slurm's name, such as cpu, node, billing, gres/gpu and gres/gpu:h100. mem is in MiB. */
export type Tres = Record<string, number>

const UNITS: Record<string, number> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4, P: 1024 ** 5 }

/**
 * Reads configured, used and requested GRES: `gpu:h100:8(S:0-1)`, `gpu:h100:4(IDX:0-3),gpu:h100_1g.10gb:14(IDX:4-17)`,
 * `gres:gpu:h100:4` (22.05), `gres/gpu:h100:4` (later), `bandwidth:lustre:no_consume:4G`. Without a count it is 1. Slurm prints the used
 * devices of GRES without a type as `gpu:(null):4(IDX:0-3)`.
 */
export function parseGres(text: string | null): Gres[] {
  if (text === null) return []
  return splitOutsideParentheses(text).flatMap((part) => {
    const [, plain = '', detail = ''] =
      /^([^(]*)(?:\((.*)\))?$/.exec(
        part
          .trim()
          .replace(/^gres[:/]/, '')
          .replace(':(null)', ''),
      ) ?? []
    const words = plain.split(/[:=]/).filter((word) => word !== '' && word !== 'no_consume')
    const name = words.shift()
    if (!name || name === 'N/A' || name === '(null)') return []
    const count = parseAmount(words.at(-1))
    if (count !== null) words.pop()
    const indexes = /IDX:([\d,-]+)/.exec(detail)?.[1] ?? null
    return [{ name, type: words.join(':') || null, count: count ?? 1, indexes }]
  })
}

/** Reads `cpu=64,mem=62.50G,gres/gpu:h100=4`. Amounts that are no number are left out. */
export function parseTres(text: string | null): Tres {
  const tres: Tres = {}
  for (const part of (text ?? '').split(',')) {
    const equals = part.lastIndexOf('=')
    const name = part.slice(0, equals).trim()
    if (equals < 1) continue
    const amount = part.slice(equals + 1)
    const value = name === 'mem' ? parseMemory(amount) : parseAmount(amount)
    if (value !== null) tres[name] = value
  }
  return tres
}

/** Trackable resources that are no GRES. */
const OTHER_TRES = /^(?:cpu|mem|node|billing|energy|pages|vmem|(?:bb|fs|ic|license)\/.*)$/

/**
 * GRES of a whole job: those of its TRES, and the requested ones that the site does not track. A request per socket counts only in the
 * TRES: how many sockets the job gets is not known before.
 * @param requested TRES as Slurm prints requests, `gres:gpu:4` or `cpu=8,gres/gpu=1`, with the number of nodes or tasks that get them
 */
export function totalGres(tres: Tres, requested: readonly (readonly [text: string | null, times: number])[]): Gres[] {
  const tracked: Gres[] = Object.entries(tres).flatMap(([key, count]) => {
    const [, name, type = null] = /^gres\/([^:]+)(?::(.+))?$/.exec(key) ?? []
    return name ? [{ name, type: type ?? null, count, indexes: null }] : []
  })
  const requests: Gres[][] = requested.map(([text, times]) =>
    parseGres(text)
      .filter(({ name }) => !OTHER_TRES.test(name))
      .map((one) => ({ ...one, count: one.count * times })),
  )
  const sum = (list: readonly Gres[]) => list.reduce((all, { count }) => all + count, 0)
  return [...new Set([...tracked, ...requests.flat()].map(({ name }) => name))].flatMap((name) => {
    const own = (list: readonly Gres[]) => list.filter((one) => one.name === name)
    // `--gpus` and `--gpus-per-node` of one job name the same GPUs.
    const wanted = requests.map(own).reduce((most, list) => (sum(list) > sum(most) ? list : most), [])
    const total = own(tracked).find(({ type }) => type === null)
    const typed = own(tracked).filter(({ type }) => type !== null)
    if (!total) return typed.length > 0 ? typed : wanted
    // Types are tracked apart from the total, and some may not be.
    return [typed, wanted].find((list) => list.length > 0 && sum(list) === total.count) ?? [total]
  })
}

/** Reads `500G`, `62.50G`, `4100M` or `4100` as MiB. */
export function parseMemory(text: string): number | null {
  const amount = parseAmount(/[KMGTP]$/.test(text.trim()) ? text : `${text.trim()}M`)
  return amount === null ? null : Math.round(amount / UNITS.M!)
}

function parseAmount(text: string | undefined): number | null {
  const match = /^(\d+(?:\.\d+)?)([KMGTP]?)$/.exec(text?.trim() ?? '')
  return match ? parseCount(match[1])! * UNITS[match[2]!]! : null
}

function splitOutsideParentheses(text: string): string[] {
  return text.match(/(?:[^,(]|\([^)]*\)?)+/g) ?? []
}
