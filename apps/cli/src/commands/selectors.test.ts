import { afterAll, beforeAll, expect, it } from 'vitest'
import { commandsOf, program } from '../main.ts'
import { muster, startTestApi, type TestApi } from '../testing/muster.ts'

let t: TestApi
let admin: Awaited<ReturnType<TestApi['given']['tenant']>>['admin']
beforeAll(async () => {
  t = await startTestApi()
  admin = (await t.given.tenant()).admin
  const credential = await t.given.credential(admin, 'SSH_KEY')
  await t.given.fleet(admin, { nodes: 7, with: () => ({ credentialId: credential.id, hostKey: 'ssh-ed25519 AAAA' }) })
  await t.signIn(admin)
  await muster('template create probe --shipped --playbook connectivity_check.yml')
  await muster('group create rack')
  await muster('group add-nodes rack gpu002')
  await muster('node update gpu001 --tag fast')
})
afterAll(() => t?.close())

const KEY = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
/** Commands that use all nodes that match; SEL is the selector. */
const MANY = [
  'node list SEL',
  'node get SEL',
  'node update SEL --notes x',
  'node test SEL',
  'node discover SEL',
  'node maintenance SEL',
  'node decommission SEL',
  'node recommission SEL',
  'node purge SEL',
  'node unlock SEL --reason x',
  'bmc set SEL --port 443',
  'bmc remove SEL',
  'power status SEL',
  'power on SEL --reason x --yes',
  'power off SEL --reason x --yes',
  'power force-off SEL --reason x --yes',
  'power restart SEL --reason x --yes',
  'power cycle SEL --reason x --yes',
  'power nmi SEL --reason x --yes',
  'power boot-once SEL PXE --reason x --yes',
  'group add-nodes rack SEL',
  'group remove-nodes rack SEL',
  'boot-profile assign compute SEL',
  'boot-profile unassign compute SEL',
  'node boot-profile SEL',
  'runs list --node SEL',
  'retry 1 --nodes SEL',
  'credential test ops SEL',
  'vars explain SEL',
  'agent list SEL',
  'agent drain SEL --reason x',
  'agent resume SEL',
  'agent reset-sequence SEL',
  'agent deregister SEL',
  'alert list --node SEL',
  'cluster scale-out prod SEL --reason x',
  'cluster config import prod --nodes SEL --reason x',
]
/** Commands that need exactly one node. */
const ONE = [
  'boot timeline SEL',
  'boot fetches SEL',
  'boot preview SEL',
  'boot unknown accept 02:00:00:00:00:01 --node SEL',
  'power sensors SEL',
  'power events SEL',
  'power list --node SEL',
  'node approve SEL SHA256:x',
  'node facts SEL',
  'node diff SEL',
  'node diff gpu001 SEL',
  'logs last --host SEL',
  'vars get -n SEL',
  'vars set -n SEL a=1',
  'vars edit -n SEL',
  'vars impact -n SEL a=1',
  'vars history -n SEL',
  'vars restore 1 -n SEL',
  'vars secret a --unset -n SEL',
  'vars diff SEL gpu001',
  'vars diff gpu001 SEL',
  'audit list --node SEL',
  'ledger list --node SEL',
  'agent get SEL',
  'agent heartbeats SEL',
  'agent history SEL',
  'agent approve SEL',
  'agent token create SEL',
  'cluster create prod --controller SEL --compute gpu001 --reason x',
  `agent allow ${KEY} SEL`,
]

it('lists every command with a node argument', async () => {
  const found = new Set<string>()
  const isOfSlurm = (command: { name(): string; parent: typeof command | null }): boolean =>
    command.name() === 'slurm' || (command.parent !== null && isOfSlurm(command.parent))
  for (const command of commandsOf(await program())) {
    // Slurm's nodes are named by hostlists.
    if (isOfSlurm(command)) continue
    const names = [...command.registeredArguments.map((each) => each.name()), ...command.options.map((each) => each.flags)]
    expect(
      names.filter((name) => /^node$|<node>|--nodes? <(?!selector)/.test(name)),
      command.name(),
    ).toEqual([])
    if (!names.some((name) => /^selector$|<selector>/.test(name))) continue
    const path = [command.name()]
    for (let parent = command.parent; parent?.parent; parent = parent.parent) path.unshift(parent.name())
    found.add(path.join(' '))
  }
  for (const path of found)
    expect(
      [...MANY, ...ONE].some((line) => line.startsWith(`${path} `)),
      `add muster ${path} to this file`,
    ).toBe(true)
  expect(found.size).toBeGreaterThan(35)
})

it.each([...MANY, ...ONE].filter((line) => !/^(retry|logs|credential)/.test(line)))('%s: no match is an error', async (line) => {
  const { code, err, out } = await muster(line.replace('SEL', 'tag:none'))
  expect({ code, err, out }).toEqual({ code: 4, err: 'No nodes match `tag:none`.\n', out: '' })
})

it.each(ONE.filter((line) => !/^logs/.test(line)))('%s: several matches are an error with names', async (line) => {
  expect(await muster(line.replace('SEL', 'gpu*'))).toMatchObject({
    code: 2,
    err: "`gpu*` matches 7 nodes: gpu001, gpu002, gpu003, gpu004, gpu005 and 2 more. Specify one, for example gpu001. `muster node list 'gpu*'` shows all.\n",
    out: '',
  })
})

it('accepts a selector that matches one node where one is needed', async () => {
  expect((await muster('vars set -n @rack a=1 b=rack')).err).toBe('Saved the variables of node gpu002: version 1.\n')
  expect((await muster('vars get -n gpu*2')).out).toBe('a: 1\nb: rack\n')
  expect((await muster('vars set -n tag:fast a=2 b=rack')).err).toContain('node gpu001')
  expect((await muster('vars history -n @rack -o json')).out).toContain('"version": 1')
  expect((await muster('vars diff tag:fast @rack')).out).toMatch(/^NAME +GPU001 +GPU002 *\na +2 \(node\) +1 \(node\)/)
  expect((await muster('agent token create @rack')).out).toMatch(/^mse_/)
  expect((await muster(`agent allow ${KEY} @rack`)).err).toMatch(/ for gpu002\.\n$/)
  for (const command of ['node facts @rack', 'node diff @rack'])
    expect(await muster(command)).toMatchObject({ code: 5, err: expect.stringMatching(/^gpu002 .*muster node discover gpu002/) })
  expect(await muster(`node approve @rack SHA256:${'x'.repeat(43)}`)).toMatchObject({
    code: 5,
    err: expect.stringContaining('gpu002'),
  })
  expect(await muster('logs --host @nope last')).toMatchObject({ code: 4, err: expect.stringContaining('No runs yet') })
})

it('explains the variables of several nodes', async () => {
  await muster('vars set c=3')
  await muster('vars set -n gpu002 a=1 c=4')
  const { out } = await muster('vars explain gpu[002-003] c')
  expect(out).toMatch(/^NAME +NODE +VALUE +FROM +OVERRIDES *\nc +gpu002 +4 +node +3 \(global\) *\nc +gpu003 +3 +global /)
  expect((await muster('vars explain gpu002 c')).out).toMatch(/^NAME +VALUE +FROM/)
  expect(await muster('vars explain gpu[002-003] c d')).toMatchObject({ code: 4, err: 'd is not set on gpu002, gpu003.\n' })
})

it('filters runs and alerts by several nodes', async () => {
  const { $client } = t.runtime.db
  for (const name of ['gpu001', 'gpu002', 'gpu003'])
    await $client.query(
      `insert into alerts (id, tenant_id, node_id, kind, severity, key)
       select gen_random_uuid(), tenant_id, id, 'offline', 'critical', 'node:' || id from compute_nodes where name = $1`,
      [name],
    )
  const { out } = await muster('alert list --node @rack,tag:fast')
  expect(out).toContain('gpu001 is offline')
  expect(out).toContain('gpu002 is offline')
  expect(out).not.toContain('gpu003')
  const runs = (selector: string) => muster(['runs', 'list', '--node', selector, '-o', 'json'])
  expect(await muster('run probe --limit gpu[001-002] -d')).toMatchObject({ code: 0 })
  expect(await muster('run probe --limit gpu003 -d')).toMatchObject({ code: 0 })
  const hosts = async (selector: string) => JSON.parse((await runs(selector)).out).map((run: { limit: string }) => run.limit)
  expect(await hosts('@rack,tag:fast')).toEqual(['gpu[001-002]'])
  expect(await hosts('gpu[002-003]')).toEqual(['gpu003', 'gpu[001-002]'])
  expect(await hosts('gpu004')).toEqual([])
  expect(await muster('logs last --host gpu*')).toMatchObject({ code: 2, err: expect.stringContaining('matches 7 nodes') })
  expect(await muster('logs last --host gpu00?')).toMatchObject({ code: 2 })
  // Hosts of a run can be deleted nodes.
  expect((await muster('logs last --host sold')).err).toBe('No lines of sold in this log.\n')
  expect((await muster('logs last --host @rack')).err).toBe('No lines of gpu002 in this log.\n')
})

it('names the nodes and asks before an action on several nodes that cannot be undone', async () => {
  await muster('node decommission gpu[005-007]')
  const asked = await muster('node purge gpu[005-006]')
  expect(asked).toEqual({
    code: 2,
    out: '',
    err: 'Delete 2 nodes: gpu005, gpu006. This cannot be undone.\nCannot ask for confirmation (yes or no) without a terminal. Use --yes.\n',
  })
  expect((await muster('node get gpu[005-006] -o name')).out).toBe('gpu005\ngpu006\n')
  expect((await muster('node purge gpu[005-006] --yes')).out).toBe('gpu005: deleted\ngpu006: deleted\n')
  // The name of one node is unambiguous.
  expect((await muster('node purge gpu007')).out).toBe('gpu007: deleted\n')
  expect(await muster('agent deregister @rack')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^Deregister the agents of 1 node: gpu002\. /),
  })
  const { err, code } = await muster('agent deregister gpu[001-002] -y')
  expect({ code, err }).toEqual({ code: 4, err: expect.stringMatching(/^gpu001: .*\ngpu002: /) })
})

it('continues with the other nodes when one is rejected', async () => {
  const { $client } = t.runtime.db
  await $client.query(
    `insert into agents (tenant_id, node_id, agent_id, cluster, state, state_since, registered_at)
     select tenant_id, id, name, 'lab', 'ACTIVE', now(), now() from compute_nodes where name = 'gpu002'`,
  )
  const drained = await muster('agent drain gpu[001-002] --reason disk')
  expect(drained).toMatchObject({ code: 4, err: expect.stringMatching(/^gpu001: .*has no agent/), out: 'gpu002: ACTIVE\n' })
})

it('filters runs and alerts by a selector that matches more nodes than a list of IDs can hold', async () => {
  const credential = await t.given.credential(admin, 'SSH_KEY')
  const nodes = { prefix: 'large', nodes: 501, with: () => ({ credentialId: credential.id, hostKey: 'ssh-ed25519 AAAA' }) }
  await t.given.fleet(admin, nodes)
  for (const name of ['gpu004', 'large501'])
    await t.runtime.db.$client.query(
      `insert into alerts (id, tenant_id, node_id, kind, severity, key)
       select gen_random_uuid(), tenant_id, id, 'offline', 'critical', 'node:' || id from compute_nodes where name = $1`,
      [name],
    )
  for (const name of ['gpu004', 'large501']) expect(await muster(`run probe --limit ${name} -d`)).toMatchObject({ code: 0 })
  for (const selector of ['large*', 'large[001-501]']) {
    const alerts = await muster(['alert', 'list', '--node', selector])
    expect(alerts).toMatchObject({ code: 0, out: expect.stringContaining('large501 is offline') })
    expect(alerts.out).not.toContain('gpu004')
    const { out } = await muster(['runs', 'list', '--node', selector, '-o', 'json'])
    expect(JSON.parse(out)).toMatchObject([{ limit: 'large501' }])
  }
})

it('explains the variables of more nodes than fit in one request', async () => {
  const { admin } = await t.given.tenant()
  await t.given.fleet(admin, { nodes: 150 })
  await t.signIn(admin)
  await muster('vars set c=3')
  for (const names of ['', ' c']) {
    const rows: { node: string; name: string }[] = JSON.parse((await muster(`vars explain all${names} -o json`)).out)
    expect(new Set(rows.filter((row) => row.name === 'c').map((row) => row.node)).size).toBe(150)
  }
})
