import type { HostResult, HostState } from '@muster/core/runs'
import type { Mask } from './mask.ts'
import type { CallbackEvent } from './run-event.ts'

const MAX_MESSAGE = 500
const MAX_SCANNED = 64 * 1024
const RESULTS = new Set(['ok', 'failed', 'unreachable', 'skipped'])

/** Tracks the state of a run's hosts from the callback's events. */
export class HostStates {
  /** Hosts with a node that responded, independent of the task's result. */
  readonly seen = new Set<string>()
  private readonly states = new Map<string, HostState>()
  private readonly changed = new Set<string>()
  private readonly mask: Mask

  constructor(names: string[], mask: Mask) {
    this.mask = mask
    for (const name of names)
      this.states.set(name, {
        name,
        ok: 0,
        changed: 0,
        failed: 0,
        unreachable: 0,
        skipped: 0,
        rescued: 0,
        ignored: 0,
        result: 'PENDING',
        currentTask: null,
        currentTaskAt: null,
        message: null,
      })
  }

  /** Marks a host that is excluded from the run. */
  reject(name: string, reason: string): void {
    this.update(name, { unreachable: 1, result: 'UNREACHABLE', message: reason })
  }

  apply(event: CallbackEvent): void {
    if (event.kind === 'stats') {
      for (const [name, counts] of Object.entries(event.hosts ?? {})) {
        const { failures, ...rest } = counts
        this.settle(name, { ...rest, failed: failures }, true)
      }
      return
    }
    const state = event.host === undefined ? undefined : this.states.get(event.host)
    if (state) this.applyToHost(event, state)
    for (const name of event.done ?? []) this.settle(name, {}, true)
  }

  private applyToHost(event: CallbackEvent, state: HostState): void {
    if (event.kind === 'host_start')
      this.update(state.name, {
        result: 'RUNNING',
        currentTask: this.mask.text(event.task ?? '').slice(0, MAX_MESSAGE),
        currentTaskAt: new Date(event.t * 1000),
      })
    else if (RESULTS.has(event.kind)) this.settle(state.name, this.countsAfter(event, state), false)
  }

  private countsAfter(event: CallbackEvent, state: HostState): Partial<HostState> {
    if (event.kind === 'ok' || event.kind === 'failed') this.seen.add(state.name)
    if (event.kind === 'skipped') return { skipped: state.skipped + 1 }
    if (event.kind === 'ok') return { ok: state.ok + 1, changed: state.changed + (event.changed ? 1 : 0) }
    if (event.ignored) return { ok: state.ok + (event.kind === 'failed' ? 1 : 0), ignored: state.ignored + 1 }
    const message = state.message ?? this.messageOf(event)
    return event.kind === 'failed' ? { failed: state.failed + 1, message } : { unreachable: state.unreachable + 1, message }
  }

  /** Returns the hosts that changed since the last call. */
  takeChanged(): HostState[] {
    const states = [...this.changed].map((name) => this.states.get(name)!)
    this.changed.clear()
    return states
  }

  all(): HostState[] {
    return [...this.states.values()]
  }

  /** @param isDone the host has no tasks left; otherwise a host without a failure stays RUNNING, because more may follow */
  private settle(name: string, change: Partial<HostState>, isDone: boolean): void {
    const result = resultOf({ ...this.states.get(name), ...change } as HostState)
    const isRunning = !isDone && result !== 'FAILED' && result !== 'UNREACHABLE'
    this.update(name, { ...change, currentTask: null, currentTaskAt: null, result: isRunning ? 'RUNNING' : result })
  }

  private update(name: string, change: Partial<HostState>): void {
    const state = this.states.get(name)
    if (!state) return
    this.states.set(name, { ...state, ...change })
    this.changed.add(name)
  }

  private messageOf({ result = {} }: CallbackEvent): string | null {
    const parts = [result.msg, result.reason, result.module_stderr, result.stderr, result.module_stdout, result.stdout]
    const [first, ...rest] = parts.flatMap((part) => (typeof part === 'string' && part.trim() !== '' ? [part.trim()] : []))
    if (first === undefined) return null
    // Ansible's message sometimes only refers to the output. Its last line is then more useful.
    const isReference = /non-zero return code|stdout\/stderr|module failure/i.test(first)
    const text = isReference && rest[0] ? `${first}: ${rest[0].slice(-MAX_SCANNED).split('\n').at(-1)}` : first
    return this.mask.text(text.slice(0, MAX_SCANNED)).slice(0, MAX_MESSAGE)
  }
}

function resultOf(state: HostState): HostResult {
  if (state.unreachable > 0) return 'UNREACHABLE'
  if (state.failed > 0) return 'FAILED'
  if (state.changed > 0) return 'CHANGED'
  if (state.ok > 0) return 'OK'
  return state.skipped > 0 ? 'SKIPPED' : 'PENDING'
}
