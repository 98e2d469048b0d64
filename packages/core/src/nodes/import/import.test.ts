import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidInput } from '../../kernel/errors.ts'
import { parseCsv } from './csv.ts'
import { parseInventory } from './inventory.ts'
import { expandRanges } from './inventory-model.ts'
import { parseList } from './list.ts'

const brief = (drafts: ReturnType<typeof parseList>) =>
  drafts.map(({ row, fields, issues }) =>
    issues.length > 0 ? [row, issues[0]!.path] : [row, fields.name, fields.host, fields.port, fields.sshUser],
  )

describe('a list', () => {
  test.each([
    ['gpu1', [[1, 'gpu1', 'gpu1', undefined, undefined]]],
    [
      '10.0.0.1, 10.0.0.2',
      [
        [1, '10.0.0.1', '10.0.0.1', undefined, undefined],
        [1, '10.0.0.2', '10.0.0.2', undefined, undefined],
      ],
    ],
    ['root@gpu1.example.com:2222', [[1, 'gpu1.example.com', 'gpu1.example.com', '2222', 'root']]],
    ['head=10.0.0.1', [[1, 'head', '10.0.0.1', undefined, undefined]]],
    ['head = ops@[2001:db8::1]:2200', [[1, 'head', '[2001:db8::1]', '2200', 'ops']]],
    ['2001:db8::1', [[1, 'node-2001-db8-1', '2001:db8::1', undefined, undefined]]],
    ['[fe80::1%eth0]', [[1, 'node-fe80-1-eth0', '[fe80::1%eth0]', undefined, undefined]]],
    ['127.0.0.1:2201', [[1, 'node-127.0.0.1', '127.0.0.1', '2201', undefined]]],
    [
      'gpu[01-02].x:2222',
      [
        [1, 'gpu01.x', 'gpu01.x', '2222', undefined],
        [1, 'gpu02.x', 'gpu02.x', '2222', undefined],
      ],
    ],
    [
      'gpu[1-2]=10.0.0.[11-12]',
      [
        [1, 'gpu1', '10.0.0.11', undefined, undefined],
        [1, 'gpu2', '10.0.0.12', undefined, undefined],
      ],
    ],
    [
      '# a comment\r\n\r\ngpu1 # the first\r\n  gpu2  ',
      [
        [3, 'gpu1', 'gpu1', undefined, undefined],
        [4, 'gpu2', 'gpu2', undefined, undefined],
      ],
    ],
    [
      'gpu[1-2]=10.0.0.1\ngpu3',
      [
        [1, 'host'],
        [2, 'gpu3', 'gpu3', undefined, undefined],
      ],
    ],
    [
      'ok, gpu[1-\nfine',
      [
        [1, 'host'],
        [2, 'fine', 'fine', undefined, undefined],
      ],
    ],
    [
      'gpu[3-1], ok',
      [
        [1, 'host'],
        [1, 'ok', 'ok', undefined, undefined],
      ],
    ],
  ])('%j', (text, drafts) => {
    expect(brief(parseList(text))).toEqual(drafts)
  })

  test('rejects more than 10,000 nodes', () => {
    expect(() => parseList('n[1-5000]\nm[1-5001]')).toThrow(/more than 10000/)
  })
})

describe('a table', () => {
  test('parses all columns, quoted cells, BOM and CRLF', () => {
    const text =
      '\uFEFFName,Host,Port,SSH User,tags,labels,groups,notes,credential\r\n' +
      'gpu1,10.0.0.1,2222,ops,"a,b",rack=1;row=2,"g1 g2","two\r\nlines","my key"\r\n' +
      '\r\n' +
      'gpu2,10.0.0.2,,,,,,"say ""hi""",\r\n'
    const [one, two] = parseCsv(text)
    expect(one).toMatchObject({
      row: 2,
      fields: {
        name: 'gpu1',
        host: '10.0.0.1',
        port: '2222',
        sshUser: 'ops',
        tags: ['a', 'b'],
        labels: { rack: '1', row: '2' },
        notes: 'two\nlines',
        credential: 'my key',
      },
      groups: ['g1', 'g2'],
      issues: [],
    })
    expect(two).toMatchObject({ row: 5, fields: { name: 'gpu2', host: '10.0.0.2', notes: 'say "hi"' } })
    expect(two!.fields.port).toBeUndefined()
  })

  test.each([';', '\t'])('parses cells separated by %j', (d) => {
    expect(parseCsv(`name${d}host${d}tags\ngpu1${d}10.0.0.1${d}a,b\n`)).toMatchObject([
      { row: 2, fields: { name: 'gpu1', host: '10.0.0.1', tags: ['a', 'b'] } },
    ])
  })

  test('requires only a name or a host', () => {
    expect(parseCsv('host\n10.0.0.1').map((d) => d.fields)).toEqual([{ name: '10.0.0.1', host: '10.0.0.1' }])
    expect(parseCsv('name\ngpu1').map((d) => d.fields)).toEqual([{ name: 'gpu1', host: 'gpu1' }])
  })

  test('notes unknown columns and rejects rows with too many cells', () => {
    const [one, two] = parseCsv('name,constructor\ngpu1,123\ngpu2,1,2\n')
    expect(one!.notes).toMatchObject([{ path: 'constructor' }])
    expect(two!.issues).toMatchObject([{ message: expect.stringContaining('3 cells') }])
  })

  test.each([
    ['', /heading line/],
    ['gpu1,10.0.0.1\ngpu2,10.0.0.2', /line 1: the header must name/],
    ['name,host\ngpu1,"10.0.0.1\ngpu2,x', /line \d+: /],
  ])('rejects %j', (text, message) => {
    expect(() => parseCsv(text)).toThrow(message)
  })
})

const INI = `
# bare hosts first
bastion.example.com:2200 ansible_user=jump
; another comment
[gpu]
gpu[01:03].x  ansible_user="o p" http_port=80   # trailing
login ansible_host=10.0.0.9 ansible_password=hunter2

[gpu-old]
old1 ansible_connection=smart

[room:children]
gpu
gpu-old

[room:vars]
ansible_port=2222
ansible_user=roomer

[gpu:vars]
ansible_user = gpuer
[all:vars]
ansible_user='aller'
`

const YAML = `---
all:
  vars: { ansible_user: aller }
  hosts:
    bastion.example.com:
      ansible_port: 2200
      ansible_user: jump
  children:
    room:
      vars:
        ansible_port: 2222
      children:
        gpu:
          hosts:
            gpu[01:02].x:
            login:
              ansible_host: 10.0.0.9
              ansible_password: !vault |
                $ANSIBLE_VAULT;1.1;AES256
          vars:
            ansible_user: gpuer
`

describe('an inventory', () => {
  test('parses INI', () => {
    const drafts = parseInventory(INI)
    expect(
      drafts.map(({ row, fields, groups }) => [row, fields.name, fields.host, fields.port, fields.sshUser, groups.sort()]),
    ).toEqual([
      [3, 'bastion.example.com', 'bastion.example.com', '2200', 'jump', []],
      [6, 'gpu01.x', 'gpu01.x', '2222', 'o p', ['gpu', 'room']],
      [6, 'gpu02.x', 'gpu02.x', '2222', 'o p', ['gpu', 'room']],
      [6, 'gpu03.x', 'gpu03.x', '2222', 'o p', ['gpu', 'room']],
      [7, 'login', '10.0.0.9', '2222', 'gpuer', ['gpu', 'room']],
      [10, 'old1', 'old1', '2222', 'roomer', ['gpu_old', 'room']],
    ])
    expect(drafts[1]!.notes).toMatchObject([{ path: 'http_port', message: 'variable ignored' }])
    expect(drafts[4]!.notes).toMatchObject([
      { path: 'ansible_password', message: expect.stringContaining('save it as a credential') },
    ])
    expect(drafts[4]!.source).toBe('login ansible_host=10.0.0.9 ansible_password=…')
    expect(JSON.stringify(drafts)).not.toContain('hunter2')
    expect(drafts[5]).toMatchObject({
      fields: { connectionType: 'ssh' },
      notes: [{ path: 'groups', message: expect.stringContaining('gpu-old') }],
    })
  })

  test('parses YAML', () => {
    expect(
      parseInventory(YAML).map(({ row, fields, groups }) => [
        row,
        fields.name,
        fields.host,
        fields.port,
        fields.sshUser,
        groups.sort(),
      ]),
    ).toEqual([
      [5, 'bastion.example.com', 'bastion.example.com', '2200', 'jump', []],
      [15, 'gpu01.x', 'gpu01.x', '2222', 'gpuer', ['gpu', 'room']],
      [15, 'gpu02.x', 'gpu02.x', '2222', 'gpuer', ['gpu', 'room']],
      [16, 'login', '10.0.0.9', '2222', 'gpuer', ['gpu', 'room']],
    ])
  })

  test('parses YAML without a document start or the group `all`', () => {
    expect(parseInventory('gpu:\n  hosts:\n    a:\n    b:\n')).toMatchObject([
      { row: 3, fields: { name: 'a' }, groups: ['gpu'] },
      { row: 4, fields: { name: 'b' }, groups: ['gpu'] },
    ])
  })

  test('merges a host of several groups into one row', () => {
    expect(parseInventory('[a]\nx ansible_port=1\n[b]\nx ansible_user=u\n')).toMatchObject([
      { row: 2, fields: { port: '1', sshUser: 'u' }, groups: ['a', 'b'] },
    ])
  })

  test('accepts cyclic groups', () => {
    expect(parseInventory('[a]\nx\n[a:children]\nb\n[b:children]\na\n')).toHaveLength(1)
  })

  test.each([
    ['[a:hosts', /line 1/],
    ['[a:things]\n', /line 1: the section/],
    ['x\n[a]\ny "open', /line 3: .*quotes/],
    ['x novalue', /line 1: a host must be written/],
    ['[a:vars]\nnovalue', /line 2: a variable/],
    ['all:\n  hosts:\n    a: {\n', /line \d+: /],
    ['all:\n  things:\n    a: 1\n', /line 2: a group has/],
    ['all:\n  hosts:\n    - a\n', /line 2: must be a mapping/],
    ['all:\n  hosts:\n    a: 1\n', /line 3: must be a mapping/],
  ])('rejects %j', (text, message) => {
    expect(() => parseInventory(text)).toThrow(message)
  })

  test.each([
    ['a[1:3]', ['a1', 'a2', 'a3']],
    ['a[08:10]b', ['a08b', 'a09b', 'a10b']],
    ['a[1:9:4]', ['a1', 'a5', 'a9']],
    ['a[a:c]', ['aa', 'ab', 'ac']],
    ['r[1:2]n[1:2]', ['r1n1', 'r1n2', 'r2n1', 'r2n2']],
    ['a[3:1]', ['a[3:1]']],
  ])('expands %s', (text, names) => {
    expect(expandRanges(text)).toEqual(names)
  })

  test('rejects a range of millions', () => {
    expect(() => parseInventory('n[1:99999999]')).toThrow(/more than 10000/)
    expect(() => parseInventory('n[1:5000]m[1:5000]')).toThrow(/more than 10000/)
  })
})

test('parsers throw only InvalidInput for any text', () => {
  const words = fc.constantFrom(
    'a',
    'gpu[1-2]',
    '[',
    ']',
    ':',
    '=',
    ',',
    ';',
    '"',
    "'",
    '\n',
    ' ',
    '#',
    '{',
    '}',
    '- ',
    '&a',
    '*a',
    '!vault',
    'all:',
    'hosts:',
    '[all:vars]',
    '%',
    '@',
    '\u0000',
    '__proto__',
    'constructor',
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
      for (const parse of [parseList, parseCsv, parseInventory]) {
        try {
          parse(parts.join(''))
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidInput)
        }
      }
    }),
    { numRuns: 2000 },
  )
})
