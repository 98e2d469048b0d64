const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
const statuses = ['RUNNING', 'SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELED', 'ERROR', 'TIMED_OUT', 'PENDING']
const reasons: Record<string, string> = {
  FAILED: 'Every host failed.',
  ERROR: 'The worker was lost; nothing has been heard of it for 30 s.',
  TIMED_OUT: 'Stopped after 15 m.',
  PARTIAL: '1 of 12 hosts was unreachable.',
}

function hosts() {
  const results = ['OK', 'CHANGED', 'FAILED', 'UNREACHABLE', 'RUNNING', 'OK', 'OK', 'SKIPPED', 'OK', 'PENDING', 'OK', 'OK']
  return results.map((result, index) => ({
    name: `gpu${String(index + 1).padStart(3, '0')}`,
    node: null,
    result,
    ok: index + 3,
    changed: result === 'CHANGED' ? 2 : 0,
    failed: result === 'FAILED' ? 1 : 0,
    unreachable: result === 'UNREACHABLE' ? 1 : 0,
    skipped: index % 3,
    rescued: 0,
    ignored: 0,
    currentTask: result === 'RUNNING' ? 'Collect accelerators' : null,
    message:
      result === 'FAILED'
        ? 'nvidia-smi: Failed to initialize NVML: Driver/library version mismatch'
        : result === 'UNREACHABLE'
          ? 'Connection timed out'
          : null,
  }))
}

const artifacts = [
  { path: 'run.log', kind: 'LOG', size: 48_213, downloadBlockedReason: null },
  {
    path: 'reports/firmware.csv',
    kind: 'FILE',
    size: 912,
    downloadBlockedReason: 'reports/firmware.csv was removed on 2026-01-02: it was older than artifacts are kept.',
  },
].map((file, index) => ({
  __typename: 'JobArtifact',
  id: `QTox${index}=`,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  createdAt: ago(60),
  downloadUrl: null,
  ...file,
}))

/** Run number `index`; statuses go round unless one is asked for. */
export function pretendRun(index: number, template: object, asked?: string) {
  const status = asked ?? (statuses[index % statuses.length] as string)
  const isOver = !['PENDING', 'RUNNING', 'CANCELING'].includes(status)
  const start = 60 + index * 4000
  return {
    __typename: 'JobRun',
    id: `Um4x${index}=`,
    template,
    templateName: 'collect_facts',
    playbookPath: 'collect-facts.yml',
    status,
    statusReason: reasons[status] ?? null,
    limit: index % 2 ? 'gpu[001-012]' : null,
    extraVars: { gather: 'full' },
    become: true,
    becomeMethod: 'SUDO',
    becomeUser: 'root',
    forks: 50,
    timeoutSeconds: 900,
    checkMode: index === 3,
    diffMode: false,
    verbosity: 0,
    reason: index === 1 ? 'After the driver update' : null,
    createdByName: 'Ada Park',
    createdAt: ago(start),
    startedAt: status === 'PENDING' ? null : ago(start - 1),
    execAt: ago(start - 1),
    finishedAt: isOver ? ago(start - 42) : null,
    cancelRequestedAt: null,
    cancelRequestedByName: null,
    durationMs: isOver ? 41_300 : null,
    exitCode: isOver ? 0 : null,
    lastSeq: 400,
    lineCount: 400,
    midTaskHosts: status === 'CANCELED' ? ['gpu004', 'gpu007'] : [],
    hostsTotal: 12,
    hostsOk: 8,
    hostsFailed: 1,
    hostsUnreachable: 1,
    hosts: hosts(),
    hostSummary: [
      { result: 'OK', count: 8, hostlist: 'gpu[001-002,005-010]' },
      { result: 'FAILED', count: 1, hostlist: 'gpu003' },
      { result: 'UNREACHABLE', count: 1, hostlist: 'gpu004' },
      { result: 'NOT_RUN', count: 2, hostlist: 'gpu[011-012]' },
    ],
    cancelBlockedReason: isOver ? `The run is already ${status}.` : null,
    isReadOnly: true,
    hasSecretVars: false,
    logBlockedReason: null,
    jobTags: [],
    skipTags: [],
    serial: null,
    maxFailPercentage: null,
    attempt: 1,
    parent: null,
    retries: index === 3 ? [{ __typename: 'JobRun', id: 'Um4xR=', status: 'SUCCEEDED' }] : [],
    retryBlockedReason: isOver ? null : `it is not over: ${status}`,
    queuePosition: status === 'PENDING' ? 2 : null,
    waitingReason: status === 'PENDING' ? 'The run 1 of Ada Park (install_nvidia_driver) is changing gpu[003-004].' : null,
    waitingFor: [] as object[],
    artifacts: isOver ? artifacts : [],
    events: ({ after }: { after?: number }) => [
      {
        seq: (after ?? 0) + 1,
        kind: 'ok',
        host: 'gpu001',
        play: 'p',
        task: 't',
        action: 'setup',
        isChanged: false,
        durationMs: 2,
        stdout: null,
        startLine: 1,
        lineCount: 0,
        result: { ansible_facts: { muster: { accelerators: 8 } } },
        createdAt: ago(3),
      },
    ],
  }
}

const tasks = ['Gathering Facts', 'Collect accelerators', 'Check drivers', 'Write facts']
function textOf(seq: number): { stdout: string; host: string | null; task: string | null; kind: string } {
  const task = tasks[Math.floor(seq / 14) % tasks.length] as string
  if (seq % 14 < 2)
    return { stdout: `\nTASK [${task}] ${'*'.repeat(Math.max(0, 70 - task.length))}`, host: null, task, kind: 'task' }
  const host = `gpu${String((seq % 14) - 1).padStart(3, '0')}`
  if (seq % 14 === 4) return { stdout: `\u001b[0;33mchanged: [${host}]\u001b[0m`, host, task, kind: 'changed' }
  if (seq % 14 === 9)
    return {
      stdout: `\u001b[0;31mfatal: [${host}]: FAILED! => {"changed": false, "msg": "nvidia-smi: Failed to initialize NVML: Driver/library version mismatch", "rc": 18}\u001b[0m`,
      host,
      task,
      kind: 'failed',
    }
  if (seq % 14 === 11) return { stdout: `\u001b[0;36mskipping: [${host}]\u001b[0m`, host, task, kind: 'skipped' }
  return { stdout: `\u001b[0;32mok: [${host}]\u001b[0m`, host, task, kind: 'ok' }
}

/** The log of a run with about so many lines, after seq `after`, in batches as the server sends them. */
export function* logEvents(lines: number, after: number) {
  let line = 1
  let batch = []
  for (let seq = 1; line <= lines; seq++) {
    const text = textOf(seq)
    const lineCount = text.stdout.split('\n').length
    if (seq > after)
      batch.push({
        seq,
        play: 'all',
        action: 'setup',
        isChanged: text.kind === 'changed',
        durationMs: 31,
        startLine: line,
        lineCount,
        createdAt: ago(40),
        result: null,
        ...text,
      })
    line += lineCount
    if (batch.length === 5000) {
      yield { events: batch, lastSeq: seq }
      batch = []
    }
  }
  if (batch.length > 0) yield { events: batch, lastSeq: batch.at(-1)?.seq ?? 0 }
}
