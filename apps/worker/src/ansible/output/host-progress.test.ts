import { cancelJobRun } from '@muster/core/runs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRunFixture, type RunFixture, realAnsible } from '../../testing/run-fixture.ts'

let fixture: RunFixture
beforeAll(async () => {
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: realAnsible(), JOB_CANCEL_GRACE_PERIOD: 1 })
  await fixture.given.fleet(fixture.admin, { nodes: 2, with: { connectionType: 'local' } })
})
afterAll(() => fixture.close())

const waitOnSecond = { command: "sleep {{ 60 if inventory_hostname == 'gpu002' else 0 }}", changed_when: false }
const play = (fields: object) => JSON.stringify([{ hosts: 'all', gather_facts: false, ...fields }])

/** Cancels a run on two hosts while the second one works and the first one has ended all its tasks. */
async function cancelMidway(name: string, playbook: string, input: object = {}) {
  const template = await fixture.template(name, playbook)
  const { id, done } = await fixture.start({ template, limit: 'all', ...input })
  await expect
    .poll(async () => (await fixture.read(id)).hosts)
    .toMatchObject([{ currentTask: null, ok: expect.toSatisfy((ok) => ok > 0) }, { currentTask: expect.any(String) }])
  const { run: midway, hosts: midwayHosts } = await fixture.read(id)
  const during = { run: midway, result: midwayHosts[0]!.result }
  await cancelJobRun(fixture.operator, { id })
  const { run, hosts } = await done
  expect(run.status).toBe('CANCELED')
  return { during, run, results: hosts.map(({ result }) => result) }
}

test.each([
  ['one task', play({ tasks: [waitOnSecond] }), {}],
  ['a block with always, in post_tasks', play({ post_tasks: [{ block: [{ debug: {} }], always: [waitOnSecond] }] }), {}],
  [
    'a last task that the tags exclude',
    play({
      tasks: [
        { ...waitOnSecond, tags: ['a'] },
        { debug: {}, tags: ['b'] },
      ],
    }),
    { jobTags: ['a'] },
  ],
  [
    'handlers without a notification',
    play({ tasks: [{ ...waitOnSecond, notify: 'restart' }], handlers: [{ name: 'restart', debug: {} }] }),
    {},
  ],
])('a host that completed its last task is OK immediately and after a cancel: %s', async (name, playbook, input) => {
  const { during, run, results } = await cancelMidway(name.replaceAll(/\W+/g, '_'), playbook, input)
  expect(during.result).toBe('OK')
  expect(during.run).toMatchObject({ status: 'RUNNING', hostsOk: 1, hostsFailed: 0 })
  expect(run).toMatchObject({ hostsOk: 1, hostsFailed: 0, interruptedHosts: ['gpu002'] })
  expect(results).toEqual(['OK', 'INTERRUPTED'])
})

test.each([
  [
    'a notified handler',
    play({ tasks: [{ ...waitOnSecond, changed_when: true, notify: 'restart' }], handlers: [{ name: 'restart', debug: {} }] }),
  ],
  ['another play', `[${play({ tasks: [waitOnSecond] }).slice(1, -1)}, ${play({ tasks: [{ debug: {} }] }).slice(1, -1)}]`],
])('a cancel interrupts a host with remaining tasks: %s', async (name, playbook) => {
  const { run, results } = await cancelMidway(name.replaceAll(/\W+/g, '_'), playbook)
  expect(run).toMatchObject({ hostsOk: 0 })
  expect(results).toEqual(['INTERRUPTED', 'INTERRUPTED'])
})
