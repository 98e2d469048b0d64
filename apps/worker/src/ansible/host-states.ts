import type { HostResult, HostState } from '@muster/core/jobs'
import type { Mask } from './mask.ts'
import type { CallbackEvent } from './run-event.ts'

const MAX_MESSAGE = 500
const MAX_SCANNED = 64 * 1024
const RESULTS = new Set(['ok', 'failed', 'unreachable', 'skipped'])

/** How the hosts of a run stand, from the callback's events. */
export class HostStates {
  /** Names whose node answered, whatever came of the task then. */
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

  /** A host that cannot take part. */
  refuse(name: string, reason: string): void {
    this.update(name, { unreachable: 1, result: 'UNREACHABLE', message: reason })
  }

  apply(event: CallbackEvent): void {
    if (event.kind === 'stats') {
      for (const [name, figures] of Object.entries(event.hosts ?? {})) {
        const { failures, ...rest } = figures
        this.settle(name, { ...rest, failed: failures }, true)
      }
      return
    }
    for (const name of event.done ?? []) this.settle(name, {}, true)
    const state = event.host === undefined ? undefined : this.states.get(event.host)
    if (!state) return
    if (event.kind === 'host_start')
      this.update(state.name, {
        result: 'RUNNING',
        currentTask: this.mask.text(event.task ?? '').slice(0, MAX_MESSAGE),
        currentTaskAt: new Date(event.t * 1000),
      })
    else if (RESULTS.has(event.kind)) this.settle(state.name, this.changeBy(event, state), false)
  }

  private changeBy(event: CallbackEvent, state: HostState): Partial<HostState> {
    if (event.kind === 'ok' || event.kind === 'failed') this.seen.add(state.name)
    if (event.kind === 'skipped') return { skipped: state.skipped + 1 }
    if (event.kind === 'ok') return { ok: state.ok + 1, changed: state.changed + (event.changed ? 1 : 0) }
    if (event.ignored) return { ok: state.ok + (event.kind === 'failed' ? 1 : 0), ignored: state.ignored + 1 }
    const message = state.message ?? this.messageOf(event)
    return event.kind === 'failed' ? { failed: state.failed + 1, message } : { unreachable: state.unreachable + 1, message }
  }

  /** Those that changed since the last call. */
  takeChanged(): HostState[] {
    const states = [...this.changed].map((name) => this.states.get(name)!)
    this.changed.clear()
    return states
  }

  all(): HostState[] {
    return [...this.states.values()]
  }

  /** @param isThrough after a task it is not known whether more come, so a host without a failure stays under way */
  private settle(name: string, change: Partial<HostState>, isThrough: boolean): void {
    const result = resultOf({ ...this.states.get(name), ...change } as HostState)
    const isUnderWay = !isThrough && result !== 'FAILED' && result !== 'UNREACHABLE'
    this.update(name, { ...change, currentTask: null, currentTaskAt: null, result: isUnderWay ? 'RUNNING' : result })
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
    // Ansible's own words where it only points elsewhere; the last line there is what the operator needs.
    const isPointer = /non-zero return code|stdout\/stderr|module failure/i.test(first)
    const text = isPointer && rest[0] ? `${first}: ${rest[0].slice(-MAX_SCANNED).split('\n').at(-1)}` : first
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
