import { expect, test } from 'vitest'
import { actionGroups, auditFilter } from './filter.ts'

const read = (text: string) => {
  const params = new URLSearchParams(text)
  return auditFilter({ get: (key) => params.get(key) ?? '' })
}

test('reads the filter from the URL and ignores unknown values', () => {
  expect(read('')).toEqual({})
  expect(read('text=a&actor=ada&address=10.0.0.1&action=node.add&outcome=DENIED&channel=CLI&object=X&run=Y')).toEqual({
    text: 'a',
    actor: 'ada',
    action: ['node.add'],
    outcome: ['DENIED'],
    address: '10.0.0.1',
    channel: ['CLI'],
    objectId: 'X',
    runId: 'Y',
  })
  expect(read('outcome=maybe&channel=fax&from=today&to=2026-99-99999')).toEqual({})
})

test('includes the whole last day, in the time zone of the browser', () => {
  expect(read('from=2026-03-28&to=2026-03-29')).toEqual({
    createdAfter: new Date(2026, 2, 28).toISOString(),
    createdBefore: new Date(2026, 2, 30).toISOString(),
  })
})

test('groups actions by object', () => {
  expect(actionGroups(['node.add', 'node.purge', 'queue.pause'])).toEqual([
    ['node', ['node.add', 'node.purge']],
    ['queue', ['queue.pause']],
  ])
})
