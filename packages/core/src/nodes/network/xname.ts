import { z } from 'zod'

/** Parts of the xname of a node: `x1000c0s3b0n1` is node 1 of controller (BMC) 0 in slot 3 of chassis 0 in cabinet 1000. */
export type Xname = { cabinet: number; chassis: number; slot: number; bmc: number; node: number }

const PATTERN = /^x(\d{1,9})c(\d{1,9})s(\d{1,9})b(\d{1,9})n(\d{1,9})$/

/** Tools with a grammar of their own, and why each rejects a name; null when it accepts it. */
const GRAMMARS: { tool: string; problem: (xname: Xname) => string | null }[] = [
  {
    // https://github.com/Cray-HPE/hms-xname: x[0-9]{1,4}c[0-7]s[0-9]+b[0-9]+n[0-9]+
    tool: 'hms-xname (SMD, BSS)',
    problem: ({ cabinet, chassis }) =>
      cabinet > 9999 ? 'the cabinet is above 9999' : chassis > 7 ? 'the chassis is above 7' : null,
  },
  {
    // https://github.com/OpenCHAMI/node-orchestrator: x\d{3,5}c\d{1,3}s\d{1,3}b\d{1,3}n\d{1,3}, chassis below 256
    tool: 'node-orchestrator',
    problem: ({ cabinet, chassis, slot, bmc, node }) =>
      cabinet < 100
        ? 'the cabinet has fewer than three digits'
        : cabinet > 99_999
          ? 'the cabinet is above 99999'
          : chassis > 255
            ? 'the chassis is above 255'
            : Math.max(slot, bmc, node) > 999
              ? 'slot, controller or node is above 999'
              : null,
  },
]

/**
 * Parses the xname of a node in any case, with or without leading zeros. Accepts every name that hms-xname or OpenCHAMI's
 * node-orchestrator accepts. A name and its form without leading zeros are one name, so the limits are those of the numbers.
 * @returns null when it is not the xname of a node
 */
export function parseXname(text: string): Xname | null {
  const numbers = PATTERN.exec(text.trim().toLowerCase())?.slice(1).map(Number)
  if (!numbers) return null
  const [cabinet, chassis, slot, bmc, node] = numbers as [number, number, number, number, number]
  return cabinet > 99_999 || chassis > 255 ? null : { cabinet, chassis, slot, bmc, node }
}

/** The xname in lower case without leading zeros. */
export const formatXname = ({ cabinet, chassis, slot, bmc, node }: Xname): string =>
  `x${cabinet}c${chassis}s${slot}b${bmc}n${node}`

/** The normalized xname; other text does not change. */
export function normalizeXname(text: string): string {
  const xname = parseXname(text)
  return xname ? formatXname(xname) : text
}

/** Xname of the BMC that controls the node. */
export const bmcXname = ({ cabinet, chassis, slot, bmc }: Xname): string => `x${cabinet}c${chassis}s${slot}b${bmc}`

/** Tools that reject the normalized name, each with its reason. Empty for most names. */
export const xnameRejections = (xname: Xname): string[] =>
  GRAMMARS.flatMap(({ tool, problem }) => {
    const reason = problem(xname)
    return reason === null ? [] : [`${tool}: ${reason}`]
  })

/** Xname of a node; normalized. */
export const NodeXname = z.string().transform((text, issue) => {
  const xname = parseXname(text)
  if (xname) return formatXname(xname)
  issue.addIssue('must be the xname of a node, such as x1000c0s3b0n1, with a cabinet up to 99999 and a chassis up to 255')
  return z.NEVER
})
