import { z } from 'zod'
import { singleLineText } from '../kernel/input.ts'

/** One batch in Ansible's syntax: a number or a percentage of hosts. */
const BATCH = /^(?:[1-9]\d{0,5}|(?:100|[1-9]?\d)%)$/
const MEANT = 'must be a number of hosts, a share such as 30%, or several of these such as 1,5,20%'

/**
 * `serial` in Ansible's syntax: `2`, `"30%"`, `[1, 5, "20%"]`, or the stored text `1,5,20%`. The last batch size repeats for all
 * remaining hosts.
 */
export const Serial = z
  .union([z.number(), z.string(), z.array(z.union([z.number(), z.string()])).max(100)], MEANT)
  .transform((given, ctx) => {
    const batches = (
      Array.isArray(given)
        ? given
        : String(given)
            .replace(/^\s*\[|\]\s*$/g, '')
            .split(',')
    ).map((batch) =>
      String(batch)
        .trim()
        .replace(/^(["'])(.*)\1$/, '$2'),
    )
    const wrong = batches.length === 0 ? '' : batches.find((batch) => !BATCH.test(batch) || batch === '0%')
    if (wrong === undefined) return batches.join(',')
    ctx.addIssue({ code: 'custom', message: `${JSON.stringify(wrong.slice(0, 40))} ${MEANT}` })
    return z.NEVER
  })

/** The batches of a stored `serial` in Ansible's types: numbers of hosts, and percentages as text. */
export const batchesOf = (serial: string): (number | string)[] =>
  serial.split(',').map((batch) => (batch.endsWith('%') ? batch : Number(batch)))

/** Tags as --tags of Ansible accepts them. */
export const JobTags = z
  .array(singleLineText(100).refine((tag) => !/[,\s]/.test(tag) && !tag.startsWith('-'), 'must contain no commas or spaces'))
  .max(50, 'at most 50')
  .transform((tags) => [...new Set(tags)])
