import { describe, expect, test } from 'vitest'
import { CHECKS, type CheckContext } from './checks.ts'

const ran = (output: string, more: Partial<Parameters<typeof CHECKS.munge.evaluate>[0]> = {}) => ({
  ...{ output, errors: '', code: 0, sentAt: 1_763_800_000_400, receivedAt: 1_763_800_000_600 },
  ...more,
})
const none: CheckContext = { settings: {}, clusterName: null }

describe('munge', () => {
  const evaluate = (output: string, more = {}) => CHECKS.munge.evaluate(ran(output, more), none)
  test('accepts only a credential that can be decoded', () => {
    expect(evaluate('STATUS:          Success (0)\nENCODE_HOST: ctl\n')).toMatchObject({ state: 'OK', hint: null })
    expect(evaluate('STATUS:          Invalid credential (8)\n', { code: 8 })).toMatchObject({
      state: 'FAILED',
      detail: 'Invalid credential (8)',
    })
    expect(evaluate('', { code: 127, errors: 'sh: 1: munge: not found' })).toMatchObject({
      state: 'FAILED',
      hint: expect.stringContaining('Install munge'),
    })
    expect(evaluate('', { code: 6, errors: 'munge: Error: Failed to access socket' })).toMatchObject({ state: 'FAILED' })
  })
})

describe('clock', () => {
  const evaluate = (seconds: number | string) => CHECKS.clock.evaluate(ran(`${seconds}\n`), none)
  test('measures the offset within the time of the command', () => {
    expect(evaluate(1_763_800_000)).toMatchObject({ state: 'OK', detail: 'equal to the clock of Muster' })
    expect(evaluate(1_763_800_011)).toMatchObject({ state: 'OK', detail: '10 s ahead of Muster' })
    expect(evaluate(1_763_799_990)).toMatchObject({ state: 'OK', detail: '9 s behind Muster' })
    expect(evaluate(1_763_800_600)).toMatchObject({ state: 'FAILED', detail: '599 s ahead of Muster' })
    expect(evaluate(1_763_799_400)).toMatchObject({ state: 'FAILED', detail: '599 s behind Muster' })
    expect(evaluate('Mon Nov 23')).toMatchObject({ state: 'FAILED' })
  })
})

describe('accounting', () => {
  const evaluate = (output: string, more = {}) => CHECKS.accounting.evaluate(ran(output, more), { ...none, clusterName: 'Prod' })
  test('requires that slurmdbd knows the cluster', () => {
    expect(evaluate('prod|10.0.0.1|\nother||\n')).toMatchObject({ state: 'OK', detail: 'slurmdbd answers: prod, other' })
    expect(evaluate('other||\n')).toMatchObject({ state: 'FAILED', hint: 'Run `sacctmgr add cluster Prod`.' })
    expect(evaluate('', { code: 1, errors: 'Connection refused' })).toMatchObject({
      state: 'FAILED',
      detail: 'Connection refused',
    })
  })
})

describe('rights', () => {
  const account = ({ sudo = '', config = '', level = 'None' }) =>
    `ops\n1000\nSLURM_CONF=${config}\nscontrol=/usr/bin/scontrol\nscancel=/usr/bin/scancel\nsacctmgr=\nsrun=\n    ${sudo}\nlevel=${level}\n`
  const evaluate = (output: string, settings: Record<string, string> = {}) =>
    CHECKS.rights.evaluate(ran(output), { ...none, settings })
  test('tells who may change the cluster', () => {
    expect(evaluate('root\n0\n\n')).toMatchObject({ state: 'OK', detail: 'root may do everything' })
    expect(evaluate('slurm\n64030\n\n', { SlurmUser: 'slurm(64030)' })).toMatchObject({ detail: 'slurm may do everything' })
    expect(evaluate(account({ level: 'Operator' }))).toMatchObject({ detail: 'ops is an operator of Slurm' })
    const sudo = (commands: string) => account({ sudo: `(root) NOPASSWD: ${commands}` })
    expect(evaluate(sudo('/usr/bin/scontrol, /usr/bin/scancel'))).toMatchObject({
      ...{ state: 'OK', detail: expect.stringContaining('actions run as root'), hint: null },
    })
    expect(evaluate(sudo('/usr/bin/scontrol'))).toMatchObject({
      detail: expect.stringContaining('run scontrol as root with sudo'),
      hint: expect.stringContaining('scontrol and scancel with sudo'),
    })
    expect(evaluate(account({ sudo: '(ALL) NOPASSWD: ALL', config: 'set' }))).toMatchObject({
      ...{ state: 'OK', detail: 'ops is an ordinary user: it can read the cluster' },
      hint: expect.stringContaining('sets SLURM_CONF, and sudo drops it'),
    })
    expect(evaluate('sh: id: not found')).toMatchObject({ state: 'FAILED' })
  })
  test('names levels of administrators only where slurmdbd has them', () => {
    const ordinary = account({})
    const cases: Record<string, string>[] = [{}, { PrivateData: 'jobs' }]
    for (const settings of cases) {
      const hintWith = (AccountingStorageType: string) => evaluate(ordinary, { ...settings, AccountingStorageType }).hint
      expect(hintWith('accounting_storage/slurmdbd')).toContain('adminlevel=Operator')
      expect(hintWith('accounting_storage/none')).not.toContain('sacctmgr')
      expect(hintWith('accounting_storage/none')).toContain('root or SlurmUser')
    }
  })
  test('warns when the account sees only a part of the cluster', () => {
    const settings = { PrivateData: 'accounts,jobs' }
    expect(evaluate(account({}), settings)).toMatchObject({
      state: 'FAILED',
      detail: expect.stringContaining('PrivateData=jobs'),
    })
    expect(evaluate(account({ level: 'Operator' }), settings)).toMatchObject({ state: 'OK' })
  })
})
