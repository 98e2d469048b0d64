import { setTimeout as sleep } from 'node:timers/promises'
import { goTime, type Identity } from '@muster/protocol/light'
import type { Api } from './api.ts'
import type { Measured } from './collect/index.ts'
import { backoff, deliver } from './deliver.ts'
import type { Log } from './log.ts'
import type { Registered } from './register.ts'
import { Spool } from './spool.ts'
import { Sequence } from './state.ts'

export type Parts = {
  nodeId: string
  clusterId: string
  stateDir: string
  interval: number
  /** Milliseconds before the first beat, when there are deltas to report. */
  settle: number
  version: string
  identity: Identity
  api: Api
  log: Log
  collect: (ownProblems: string[]) => Promise<Measured>
  register: (measured: Measured) => Promise<Registered>
}

/** Beats once per interval whatever happens, and delivers what it has in order as soon as it can. */
export class Agent {
  #parts: Parts
  #sequence: Sequence
  #spool: Spool
  #interval: number
  #started = new Date()
  #counts = { total_heartbeats: 0, failed_heartbeats: 0 }
  #accepted: string | null = null
  #lastError: { at: string; code: string; message: string } | null = null
  #measured: Measured | undefined
  #isRegistered = false
  #wake = () => {}
  #sooner = new AbortController()
  #stop: AbortSignal | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#interval = parts.interval
    this.#sequence = new Sequence(parts.stateDir, this.#started)
    this.#spool = new Spool(parts.stateDir)
  }

  /** What anybody on this machine may know. */
  status() {
    const { nodeId, clusterId, version, identity } = this.#parts
    return {
      version,
      node_id: nodeId,
      cluster_id: clusterId,
      public_key: identity.publicKey.base64,
      pid: process.pid,
      started_at: this.#started.toISOString(),
      uptime_seconds: Math.floor((Date.now() - this.#started.getTime()) / 1000),
      ...this.#counts,
      ...this.#sequence.current,
      registered: this.#isRegistered,
      last_accepted_at: this.#accepted,
      waiting_heartbeats: this.#spool.size,
      dropped_heartbeats: this.#spool.dropped,
      interval_seconds: this.#interval / 1000,
      problems: this.#problems(),
      last_error: this.#lastError,
      health: this.#measured?.health.status ?? null,
    }
  }

  /** Beats until it is told to stop. Nodes that start together do not beat together. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stop = signal
    const delivering = this.#deliverAll(signal)
    for (let wait = this.#parts.settle * (1 + Math.random() * 2); await slept(wait, signal); wait = 0) {
      await this.#beat()
      await this.#rest(signal)
    }
    this.#wake()
    await delivering
    this.#spool.keep()
  }

  /** One beat, and one try to deliver all there is. True when everything got through. */
  async once(): Promise<boolean> {
    await sleep(this.#parts.settle)
    await this.#beat()
    while (this.#measured && this.#spool.size && (await this.#deliverFirst(this.#measured)) === null);
    this.#spool.keep()
    return this.#spool.size === 0 && this.#lastError === null
  }

  async #beat(): Promise<void> {
    try {
      const measured = await this.#parts.collect(this.#problems())
      const now = new Date()
      const position = this.#sequence.next()
      this.#spool.push(position, now, JSON.stringify({ ...position, measured_at: goTime(now), ...measured }))
      // Others wait already, and the next try may be minutes away: until then a killed agent would lose it.
      if (this.#spool.size > 1) this.#spool.keep()
      this.#measured = measured
    } catch (error) {
      this.#fail('not_measured', (error as Error).message)
    }
    this.#wake()
  }

  /** Until the next beat is due, which an answer of the API may bring forward. */
  async #rest(signal: AbortSignal): Promise<void> {
    const since = performance.now()
    const part = 0.95 + Math.random() * 0.1
    const remains = () => this.#interval * part - (performance.now() - since)
    for (let left = remains(); left > 0 && !signal.aborted; left = remains()) {
      this.#sooner = new AbortController()
      await slept(left, AbortSignal.any([signal, this.#sooner.signal]))
    }
  }

  async #deliverAll(signal: AbortSignal): Promise<void> {
    let wait = 0
    while (!signal.aborted) {
      // What an earlier start left waits until it is known on which machine this is.
      const measured = this.#measured
      if (!measured || this.#spool.size === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      const asked = await this.#deliverFirst(measured)
      wait = asked === null ? 0 : Math.max(backoff(wait), asked * (1 + Math.random() / 4))
      if (wait) this.#spool.keep()
      // Many nodes may have much to tell at once: nobody does so in one breath.
      const pause = wait || (this.#spool.size ? 50 + Math.random() * 150 : 0)
      if (pause) await slept(pause, signal)
    }
  }

  /**
   * Delivers the oldest beat, after having registered where the API does not know this node yet. Null when the next may follow, else for
   * how many milliseconds the API wants to be left alone (0: it does not say).
   */
  async #deliverFirst(measured: Measured): Promise<number | null> {
    const { nodeId, clusterId, version, api, identity, register, log } = this.#parts
    if (!this.#isRegistered) {
      const answer = await register(measured)
      if (!answer.accepted) return this.#later(answer.code, answer.message, answer.wait)
      this.#isRegistered = true
      log.info('registered')
    }
    const oldest = this.#spool.first()
    if (!oldest) return null
    const { hardware_fingerprint } = measured
    const sender = { node_id: nodeId, cluster_id: clusterId, agent_version: version, hardware_fingerprint }
    const { done, code, message, wait, next } = await deliver(api, oldest.json, sender, identity)
    this.#counts.total_heartbeats++
    if (next) this.#setInterval(next * 1000)
    if (done === 'unknown_node') this.#isRegistered = false
    if (done === 'later' || done === 'unknown_node') return this.#later(code, message, wait)
    this.#spool.remove(oldest.position)
    if (done === 'refused') this.#fail(code, message)
    else {
      this.#accepted = new Date().toISOString()
      this.#lastError = null
    }
    return null
  }

  #setInterval(interval: number): void {
    const isShorter = interval < this.#interval
    this.#interval = interval
    if (isShorter) this.#sooner.abort()
  }

  #later(code: string, message: string, wait: number | null): number {
    this.#fail(code, message)
    return (wait ?? 0) * 1000
  }

  #fail(code: string, message: string): void {
    // What was cut short by us is no failure.
    if (this.#stop?.aborted) return
    this.#counts.failed_heartbeats++
    // One line for what goes on being wrong.
    this.#parts.log[this.#lastError?.code === code ? 'debug' : 'warn'](`${code}: ${message}`)
    this.#lastError = { at: new Date().toISOString(), code, message }
  }

  #problems(): string[] {
    return [this.#sequence.problem, this.#spool.problem].filter((problem) => problem !== null)
  }
}

/** False when it was cut short. */
async function slept(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return sleep(milliseconds, true, { signal }).catch(() => false)
}
