import { expect, test } from 'vitest'
import { fixture, VERSIONS } from '../test/fixture.ts'
import { hasNodeState, isInService, nodeStateWord } from './node-state.ts'
import { parseNodes } from './parse-nodes.ts'

test.each([
  ['IDLE', 'IDLE'],
  ['IDLE+NOT_RESPONDING', 'IDLE*'],
  ['DOWN+NOT_RESPONDING', 'DOWN*'],
  ['ALLOCATED+NOT_RESPONDING', 'ALLOCATED*'],
  ['UNKNOWN+NOT_RESPONDING', 'UNKNOWN*'],
  ['IDLE+CLOUD+POWERED_DOWN', 'IDLE~'],
  ['IDLE+CLOUD+POWERING_UP+NOT_RESPONDING', 'IDLE#'],
  ['IDLE+POWER_DOWN', 'IDLE!'],
  ['IDLE+POWERING_DOWN', 'IDLE%'],
  ['MIXED+REBOOT_REQUESTED', 'MIXED@'],
  ['MIXED+DRAIN+REBOOT_REQUESTED', 'DRAINING@'],
  ['IDLE+DRAIN+REBOOT_REQUESTED', 'REBOOT'],
  ['DOWN+DRAIN+REBOOT_ISSUED', 'REBOOT^'],
  ['IDLE+DRAIN', 'DRAINED'],
  ['IDLE+DRAIN+NOT_RESPONDING', 'DRAINED*'],
  ['MIXED+DRAIN', 'DRAINING'],
  ['IDLE+DRAIN+COMPLETING', 'DRAINING'],
  ['IDLE+DRAIN+MAINTENANCE+RESERVED', 'DRAINED$'],
  ['IDLE+MAINTENANCE+RESERVED', 'MAINT'],
  ['MIXED+MAINTENANCE+RESERVED', 'MIXED$'],
  ['IDLE+FAIL+NOT_RESPONDING', 'FAIL*'],
  ['IDLE+DRAIN+INVALID_REG', 'INVAL'],
  ['IDLE+COMPLETING', 'COMPLETING'],
  ['ALLOCATED+COMPLETING', 'ALLOCATED+'],
  ['IDLE+RESERVED', 'RESERVED'],
  ['IDLE+PLANNED', 'PLANNED'],
  ['IDLE+RESERVED+NOT_RESPONDING', 'IDLE*'],
  ['MIXED+PLANNED', 'MIXED-'],
])('shows %s as sinfo does: %s', (states, word) => {
  expect(nodeStateWord(states.split('+'))).toBe(word)
})

test.each(VERSIONS)('shows the recorded nodes of Slurm %s as its sinfo did', (version) => {
  const shown = Object.fromEntries(
    parseNodes(fixture(version, 'nodes.json')).map((node) => [node.name, nodeStateWord(node.states)]),
  )
  const recorded = fixture(version, 'sinfo-states.txt').trim().split('\n')
  expect(recorded.length).toBeGreaterThanOrEqual(8)
  expect(recorded.filter((line) => line !== `${line.split('|')[0]}|${shown[line.split('|')[0]!]?.toLowerCase()}`)).toEqual([])
})

test.each([
  ['IDLE', true],
  ['MIXED+PLANNED', true],
  ['IDLE+CLOUD+POWERED_DOWN', true],
  ['IDLE+NOT_RESPONDING', false],
  ['IDLE+DRAIN', false],
  ['IDLE+INVALID_REG', false],
  ['IDLE+MAINTENANCE', false],
  ['DOWN', false],
])('knows whether jobs can start on a node that is %s: %s', (states, expected) => {
  expect(isInService(states.split('+'))).toBe(expected)
})

test.each([
  ['IDLE', 'idle', true],
  ['IDLE+NOT_RESPONDING', 'idle', true],
  ['IDLE+NOT_RESPONDING', 'idle*', true],
  ['IDLE+CLOUD+POWERED_DOWN', 'idle', true],
  ['IDLE', 'idle*', false],
  ['IDLE+DRAIN', 'idle', false],
  ['IDLE+DRAIN', 'drained', true],
  ['IDLE+DRAIN+NOT_RESPONDING', 'drained', true],
  ['IDLE+DRAIN', 'drain', true],
  ['MIXED+DRAIN', 'drain', true],
  ['MIXED+DRAIN', 'mixed', false],
  ['IDLE+RESERVED', 'idle', false],
  ['MIXED+PLANNED', 'mixed', true],
  ['DOWN+NOT_RESPONDING', 'down', true],
  ['IDLE+INVALID_REG', 'inval', true],
])('finds a node that is %s by %s: %s', (states, word, expected) => {
  expect(hasNodeState(states.split('+'), ['none', word])).toBe(expected)
})
