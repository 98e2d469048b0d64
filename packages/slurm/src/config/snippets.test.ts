import { describe, expect, test } from 'vitest'
import { applySnippets, hasSnippet, snippetNames, snippetProblems } from './snippets.ts'
import type { ConfigFiles } from './types.ts'

const CONF = 'ClusterName=a\nSlurmctldHost=ctl\n# nodes\nNodeName=n[1-2] CPUs=8\nPartitionName=debug Nodes=n[1-2]\n'
const limits = { name: 'limits', files: { 'slurm.conf': 'MaxArraySize=5000\nMaxJobCount=20000\n' } }
const apply = (files: ConfigFiles, ...snippets: Parameters<typeof applySnippets>[1][number][]) => applySnippets(files, snippets)

describe('applySnippets', () => {
  test('sets the lines before the definitions, between comments with the name', () => {
    const { files, conflicts } = apply({ 'slurm.conf': CONF }, limits)
    expect(conflicts).toEqual([])
    expect(files['slurm.conf']).toBe(
      'ClusterName=a\nSlurmctldHost=ctl\n# nodes\n# BEGIN MUSTER SNIPPET limits\nMaxArraySize=5000\nMaxJobCount=20000\n# END MUSTER SNIPPET limits\nNodeName=n[1-2] CPUs=8\nPartitionName=debug Nodes=n[1-2]\n',
    )
  })

  test('is idempotent, replaces changed lines in place, and restores the file when the snippet goes', () => {
    const once = apply({ 'slurm.conf': CONF }, limits).files
    expect(apply(once, limits).files).toEqual(once)
    const changed = { ...limits, files: { 'slurm.conf': 'MaxArraySize=7000' } }
    const after = apply(once, changed).files
    expect(after['slurm.conf']).toBe(once['slurm.conf'].replace('5000\nMaxJobCount=20000', '7000'))
    expect(hasSnippet(after, changed)).toBe(true)
    expect(hasSnippet(after, limits)).toBe(false)
    expect(snippetNames(after)).toEqual(['limits'])
    expect(snippetNames({ 'slurm.conf': CONF })).toEqual([])
    expect(apply(after).files['slurm.conf']).toBe(CONF)
  })

  test('ends a last line without a line end first, and makes files that are missing', () => {
    const gres = { name: 'g', files: { 'slurm.conf': 'MinJobAge=600', 'gres.conf': 'AutoDetect=nvml\n' } }
    const { files } = apply({ 'slurm.conf': 'ClusterName=a' }, gres)
    expect(files).toEqual({
      'slurm.conf': 'ClusterName=a\n# BEGIN MUSTER SNIPPET g\nMinJobAge=600\n# END MUSTER SNIPPET g\n',
      'gres.conf': '# BEGIN MUSTER SNIPPET g\nAutoDetect=nvml\n# END MUSTER SNIPPET g\n',
    })
    expect(apply({ 'slurm.conf': CONF }, limits).files).not.toHaveProperty('gres.conf')
  })

  test('names lines with the same key, whatever its case, and keeps the files as they are', () => {
    const own = { 'slurm.conf': `maxarraysize=1\n${CONF}` }
    const { files, conflicts } = apply(own, limits)
    expect(files).toEqual(own)
    expect(conflicts).toEqual([
      { snippet: 'limits', file: 'slurm.conf', line: 1, message: 'maxarraysize is also in line 1 of slurm.conf.' },
    ])
  })

  test('names the other snippet with the same key, and applies the first by name', () => {
    const other = { name: 'zz', files: { 'slurm.conf': 'MaxArraySize=1\n' } }
    const { files, conflicts } = apply({ 'slurm.conf': CONF }, other, limits)
    expect(hasSnippet(files, limits)).toBe(true)
    expect(conflicts.map(({ snippet, message }) => [snippet, message])).toEqual([
      ['zz', 'MaxArraySize is also in the snippet limits.'],
    ])
  })

  test('permits lines that may be repeated unless they define the same thing', () => {
    const partition = (name: string) => ({ name: 'p', files: { 'slurm.conf': `PartitionName=${name} Nodes=ALL\n` } })
    expect(apply({ 'slurm.conf': CONF }, partition('night')).conflicts).toEqual([])
    expect(apply({ 'slurm.conf': CONF }, partition('debug')).conflicts).toMatchObject([
      { line: 5, message: 'PartitionName=debug is also in line 5 of slurm.conf.' },
    ])
  })
})

describe('snippetProblems', () => {
  test.each([
    ['NoSuchKey=1', 'slurm.conf:1', /not known to Slurm/],
    ['MaxArraySize=1\nMaxArraySize=2', 'slurm.conf:2', /twice/],
    ['MaxArraySize 1', 'slurm.conf:1', /cannot read/],
    ['MaxArraySize=1 \\', 'slurm.conf:1', /backslash/],
    ['MaxArraySize=1\n# END MUSTER SNIPPET x', 'slurm.conf:2', /marks snippets/],
    ['# only a comment', 'files', /at least one line/],
  ])('refuses %j', (text, path, message) => {
    expect(snippetProblems({ 'slurm.conf': text })).toEqual([{ path, message: expect.stringMatching(message) }])
  })

  test('accepts settings of several files', () => {
    expect(snippetProblems({ ...limits.files, 'gres.conf': 'AutoDetect=nvml', 'cgroup.conf': 'ConstrainDevices=yes' })).toEqual(
      [],
    )
  })
})
