import { describe, expect, it } from 'vitest'
import { parseManifests } from './parse-manifests.ts'

const node = (name: string, spec = 'host: 10.0.0.1') =>
  `apiVersion: muster/v1\nkind: ComputeNode\nmetadata:\n  name: ${name}\nspec:\n  ${spec.replaceAll('\n', '\n  ')}\n`
const parse = (text: string, name = 'a.yaml') => parseManifests([{ name, text }])
const messages = async (text: string) =>
  (await parse(text)).issues.map(({ line, column, path, message }) => `${line}:${column} ${path} ${message}`)

describe('documents', () => {
  it('reads several documents, and skips empty ones', async () => {
    const { objects, issues } = await parse(`# first\n---\n${node('n1')}---\n---\n${node('n2', 'host: n2\nnid: 7')}`)
    expect(issues).toEqual([])
    expect(objects.map(({ name, spec }) => [name, spec])).toEqual([
      ['n1', { host: '10.0.0.1' }],
      ['n2', { host: 'n2', nid: 7 }],
    ])
    expect(objects[1]!.source.document).toBe(3)
    expect(objects[1]!.source.at('spec.nid')).toEqual({ line: 17, column: 8 })
  })

  it('reads JSON, also a list of objects', async () => {
    const json = { apiVersion: 'muster/v1', kind: 'NodeGroup', metadata: { name: 'gpu' }, spec: { members: ['n2', 'n1'] } }
    const { objects } = await parse(JSON.stringify([json], null, '\t'))
    expect(objects).toMatchObject([{ kind: 'NodeGroup', name: 'gpu', spec: { members: 'n[1-2]' } }])
  })

  it('reports every issue with line, column and the nearest name', async () => {
    const text = `${node('n1', 'hots: x\nport: 99999\nnodeType: GPU\ninterfaces:\n  - {name: e0, mac: "1", foo: 1}')}---\napiVersion: muster/v2\nkind: Node\nmetadata: {nmae: x}\nstatus: 1\n`
    const { issues } = await parse(text)
    expect(issues.map(({ document, line, column, path }) => [document, line, column, path])).toEqual([
      [1, 7, 9, 'spec.port'],
      [1, 8, 13, 'spec.nodeType'],
      [1, 10, 23, 'spec.interfaces.0.mac'],
      [1, 10, 28, 'spec.interfaces.0.foo'],
      [1, 6, 3, 'spec.hots'],
      [2, 15, 1, 'status'],
      [2, 12, 13, 'apiVersion'],
      [2, 13, 7, 'kind'],
      [2, 14, 12, 'metadata.nmae'],
    ])
    expect(issues[4]).toMatchObject({ message: 'the field hots is not known; did you mean host?' })
    expect(issues[4]!.allowed).toContain('managementIp')
    expect(issues[1]!.allowed).toEqual(['COMPUTE', 'LOGIN', 'CONTROLLER', 'STORAGE', 'OTHER'])
  })

  it.each([
    ['duplicate fields', node('n1', 'host: a\nhost: b'), '7:3 spec.host the field host occurs twice'],
    ['custom tags', node('n1', 'host: !vault a'), '6:9  Unresolved tag: !vault'],
    ['YAML 1.1', `%YAML 1.1\n---\n${node('n1')}`, 'is YAML 1.1'],
    ['broken syntax', 'a: [', 'Flow sequence in block collection'],
    ['text', 'hello', 'must be a mapping with apiVersion'],
    [
      'secrets',
      node('c').replace('ComputeNode', 'Credential').replace('host: 10.0.0.1', 'password: abcd'),
      'manifests contain no secrets',
    ],
    ['recursive aliases', node('n1', 'host: &a [*a]'), 'the alias *a is inside its own anchor'],
  ])('rejects %s', async (_, text, message) => {
    const { objects } = await parse(text)
    expect(objects).toEqual([])
    expect((await messages(text)).join('\n')).toContain(message)
  })

  it('rejects aliases that expand to too many values', async () => {
    const levels = Array.from({ length: 12 }, (_, i) => `  b${i + 1}: &b${i + 1} [${Array(12).fill(`*b${i}`).join(', ')}]`)
    const text = `apiVersion: muster/v1\nkind: Variables\nmetadata: {name: all}\nspec:\n vars:\n  b0: &b0 [x]\n${levels.join('\n')}\n`
    expect((await messages(text)).join('\n')).toContain('expand to more than 1000000 values')
  })

  it('counts aliases over all files, and the characters that they repeat', async () => {
    const vars = (text: string) => `apiVersion: muster/v1\nkind: Variables\nmetadata: {name: all}\nspec:\n vars:\n${text}\n`
    const tens = (levels: number) =>
      Array.from({ length: levels }, (_, i) => `  b${i + 1}: &b${i + 1} [${Array(10).fill(`*b${i}`).join(', ')}]`).join('\n')
    const wide = vars(`  b0: &b0 [x]\n${tens(5)}`)
    expect((await parse(wide)).issues).toEqual([])
    const many = await parseManifests(Array.from({ length: 10 }, (_, i) => ({ name: `f${i}.yaml`, text: wide })))
    expect(many.issues.at(-1)!.message).toContain('expand to more than 1000000 values')
    const long = vars(`  b0: &b0 ${'x'.repeat(1_000_000)}\n${tens(2)}`)
    expect((await messages(long)).join('\n')).toContain('expand to more than 50000000 characters')
  })

  it('shares the values of harmless aliases', async () => {
    const text = `${node('n1', 'tags: &t [a, b]\nlabels: {a: &x k, b: *x}')}---\n${node('n2', 'tags: [c]')}`
    expect((await parse(text)).objects.map(({ spec }) => [spec.tags, spec.labels])).toEqual([
      [['a', 'b'], { a: 'k', b: 'k' }],
      [['c'], undefined],
    ])
  })

  it.each(['[', '{a: ', '- ', '? '])('rejects 50,000 levels of %j', async (open) => {
    expect((await messages(open.repeat(50_000))).join('\n')).toContain('nested deeper than 32 levels')
  })

  it('rejects an object that occurs twice, and values that two nodes share', async () => {
    const wired = (mac: string) => `host: h\nxname: x1c0s0b0n0\nnid: 1\ninterfaces:\n  - {name: e0, mac: "${mac}"}`
    const text = [node('n1', wired('02:00:00:00:00:01')), node('n1'), node('n2', wired('02-00-00-00-00-01'))].join('---\n')
    const found = await messages(text)
    expect(found[0]).toContain('15:9 metadata.name ComputeNode/n1 is already in a.yaml, line 4')
    expect(found.slice(1).map((each) => each.replace(/^\S+ /, ''))).toEqual([
      'spec.xname the xname x1c0s0b0n0 is also given to n1 in a.yaml, line 4',
      'spec.nid the NID 1 is also given to n1 in a.yaml, line 4',
      'spec.interfaces.0.mac the MAC 02:00:00:00:00:01 is also given to n1 in a.yaml, line 4',
    ])
  })

  it('survives random edits of a manifest', async () => {
    const good = node('x1000c0s0b0n0', 'host: h\nxname: x1000c0s0b0n0\ntags: [a, b]\nlabels: {k: v}')
    let seed = 7
    const random = (max: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % max
    }
    const bits = [
      'x',
      'c',
      's',
      'b',
      'n',
      '0',
      '9',
      '99999999',
      ':',
      '[',
      '{',
      '&a ',
      '*a ',
      '!!str ',
      '\n',
      '- ',
      '"',
      "'",
      '\t',
      '---\n',
      '\u0000',
    ]
    for (let i = 0; i < 500; i++) {
      let text = good
      for (let n = random(4); n >= 0; n--) {
        const at = random(text.length)
        text = text.slice(0, at) + bits[random(bits.length)] + text.slice(at + random(3))
      }
      const { objects, issues } = await parse(text)
      for (const { spec } of objects)
        if (spec.xname) expect(spec.xname).toMatch(/^x(0|[1-9]\d{0,4})c\d{1,3}s\d{1,9}b\d{1,9}n\d{1,9}$/)
      for (const { line, column } of issues) expect(Math.min(line, column)).toBeGreaterThan(0)
    }
  })
})

describe('templates', () => {
  const template = (nodes: string, spec: string) =>
    `apiVersion: muster/v1\nkind: ComputeNode\nmetadata:\n  nodes: ${nodes}\nspec:\n  ${spec.replaceAll('\n', '\n  ')}\n`

  it('expands a hostlist with counters', async () => {
    const spec = `host: 10.1.0.254+
nid: 1+
xname: "{name}"
rackPosition: U09+2
managementIp: fd00::ffff+
notes: "5+ of {name}"
interfaces:
  - {name: hsn0, mac: "02:00:5e:00:00:fe+", isBoot: true, addresses: [{address: 172.16.0.1+}]}
  - {name: ib0, mac: "80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:ff+"}`
    const { objects, issues } = await parse(template('x1000c0s[0-1]b0n[0-1]', spec))
    expect(issues).toEqual([])
    expect(objects.map(({ name }) => name)).toEqual(['x1000c0s0b0n0', 'x1000c0s0b0n1', 'x1000c0s1b0n0', 'x1000c0s1b0n1'])
    expect(objects[3]!.spec).toMatchObject({
      host: '10.1.1.1',
      nid: 4,
      xname: 'x1000c0s1b0n1',
      rackPosition: 'U15',
      managementIp: 'fd00::1:2',
      notes: '5+ of x1000c0s1b0n1',
      interfaces: [
        { mac: '02:00:5e:00:01:01', addresses: [{ address: '172.16.0.4' }] },
        { mac: '80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:27:02' },
      ],
    })
  })

  it.each([
    ['n[1-99999999]', 'host: h', 'metadata.nodes it names more than 20000 hosts'],
    ['"n[1-2]"', 'host: 255.255.255.255+', 'spec.host 255.255.255.255 plus 1 is beyond the last address'],
    ['n[1-2', 'host: h', 'metadata.nodes'],
    [
      'n[1-20000]',
      `host: h\nnotes: "{name} ${'x'.repeat(5000)}"`,
      'metadata.nodes the manifests expand to more than 50000000 characters',
    ],
    [
      'n[1-20000]',
      `host: h\ntags: [${Array.from({ length: 60 }, (_, i) => `t${i}`)}]`,
      'metadata.nodes the manifests expand to more than 1000000 values',
    ],
    ['n[1-3]', 'nid: 1', 'the NID 1 is also given to n1'],
    ['n[1-9]', 'hots: 1', 'the field hots is not known'],
  ])('reports a mistake once: %s with %s', async (nodes, spec, message) => {
    const found = await messages(template(nodes, spec))
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(message)
  })
})

describe('files of `ochami discover static`', () => {
  it('converts nodes and groups, and warns about BMCs', async () => {
    const text = `bmcs:
- {name: b, xname: x1000c1s0b0, mac: "de:ca:fc:0f:ee:ee", ip: 172.16.0.101}
nodes:
- name: node01
  nid: 1
  xname: x1000c1s0b0n0
  groups: [compute]
  interfaces:
  - mac_addr: de:ad:be:ee:ee:f1
    ip_addrs:
    - {name: internal, ip_addr: 172.16.0.1}
- name: node02
  nid: x
  xname: x1000c1s0b0n1
  group: compute
  interfaces:
  - mac_addr: de:ad:be:ee:ee:f3
    ip_addrs: [{ip_addr: 172.16.0.2}]
`
    const { objects, issues, warnings } = await parse(text)
    expect(objects).toMatchObject([
      { kind: 'NodeGroup', name: 'compute', spec: { members: 'node[01-02]' } },
      {
        kind: 'ComputeNode',
        name: 'node01',
        spec: {
          host: '172.16.0.1',
          nid: 1,
          xname: 'x1000c1s0b0n0',
          interfaces: [{ mac: 'de:ad:be:ee:ee:f1', isBoot: true, addresses: [{ address: '172.16.0.1', network: 'internal' }] }],
        },
      },
    ])
    expect(issues).toMatchObject([{ line: 13, column: 8, path: 'nodes.1.nid' }])
    expect(warnings).toEqual([expect.stringContaining('1 BMCs are not applied')])
  })
})
