import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixture, VERSIONS } from '../test/fixture.ts'
import { SlurmOutputError } from './errors.ts'
import { parseJobRecords } from './parse-accounting.ts'
import { parseConfig, parseVersion } from './parse-config.ts'
import { parseControllers } from './parse-controllers.ts'
import { parseJobs } from './parse-jobs.ts'
import { parseLicenses } from './parse-licenses.ts'
import { parseNodes } from './parse-nodes.ts'
import { parsePartitions } from './parse-partitions.ts'
import { parsePriorities, parseShares } from './parse-priority.ts'
import { parseReservations } from './parse-reservations.ts'
import { parseScheduler } from './parse-scheduler.ts'

const PARSERS = {
  'nodes.json': parseNodes,
  'nodes.txt': parseNodes,
  'partitions.txt': parsePartitions,
  'reservations.txt': parseReservations,
  'squeue.json': (output: string) => parseJobs(output, { nonce: 'n' }),
  'config.txt': parseConfig,
  'ping.txt': parseControllers,
  'sdiag.txt': parseScheduler,
  'sacct.txt': (output: string) => parseJobRecords(output, '0123456789abcdef'),
  'sprio.txt': parsePriorities,
  'sshare.txt': parseShares,
}

/** Damaged output is read or refused; nothing else may happen. */
function readOrRefuse(parse: (output: string) => unknown, output: string): void {
  try {
    parse(output)
  } catch (error) {
    expect(error).toBeInstanceOf(SlurmOutputError)
  }
}

test.each(Object.entries(PARSERS))('reads or refuses damaged %s', (name, parse) => {
  const texts = VERSIONS.map((version) => fixture(version, name).slice(0, 60_000))
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.nat(),
      fc.nat(200),
      fc.string({ unit: 'binary', maxLength: 40 }),
      (text, at, cut, noise) => {
        const start = at % text.length
        readOrRefuse(parse, text.slice(0, start) + noise + text.slice(start + cut))
      },
    ),
    { numRuns: 100 },
  )
})

test('reads or refuses JSON of any shape', () => {
  const shape = fc.record({ nodes: fc.json().map((text) => JSON.parse(text)), jobs: fc.array(fc.object()) }, { requiredKeys: [] })
  fc.assert(
    fc.property(shape, (value) => {
      readOrRefuse(parseNodes, JSON.stringify(value))
      readOrRefuse(PARSERS['squeue.json'], JSON.stringify(value))
    }),
  )
})

test('reads or refuses any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const parse of [...Object.values(PARSERS), parseVersion, parseLicenses]) readOrRefuse(parse, text)
    }),
  )
})
