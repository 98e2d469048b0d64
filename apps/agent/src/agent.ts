import { setTimeout as sleep } from 'node:timers/promises'
import { formatGoTime, type Identity } from '@muster/protocol/agent'
import type { ApiClient } from './api-client.ts'
import type { Measurements } from './collect/index.ts'
import { backoff, deliver } from './deliver.ts'
import type { Log } from './log.ts'
import type { RegistrationResult } from './register.ts'
import { Sequence } from './sequence.ts'
import { Spool } from './spool.ts'

export type AgentOptions = {
  nodeId: string
  clusterId: string
  stateDir: string
  /** Milliseconds between heartbeats until the API sends the tenant's interval. */
  interval: number
  /** Milliseconds before the first heartbeat, so that it can report rates. */
  initialDelay: number
  version: string
  identity: Identity
  api: ApiClient
  log: Log
  collect: (agentProblems: string[]) => Promise<Measurements>
  register: (measurements: Measurements) => Promise<RegistrationResult>
}

/** Measures once per interval, whether or not the API is reachable, and delivers queued heartbeats in order. */
export class Agent {
  #options: AgentOptions
  #sequence: Sequence
  #spool: Spool
  #interval: number
  #startedAt = new Date()
  #counters = { total_heartbeats: 0, failed_heartbeats: 0 }
  #lastAcceptedAt: string | null = null
  #lastError: { at: string; code: string; message: string } | null = null
  #measurements: Measurements | undefined
  #isRegistered = false
  #wakeDelivery = () => {}
  #intervalShortened = new AbortController()
  #stop: AbortSignal | undefined

  constructor(options: AgentOptions) {
    this.#options = options
    this.#interval = options.interval
    this.#sequence = new Sequence(options.stateDir, this.#startedAt)
    this.#spool = new Spool(options.stateDir)
  }

  /** Status for any local user; contains no secrets. */
  status() {
    const { nodeId, clusterId, version, identity } = this.#options
    return {
      version,
      node_id: nodeId,
      cluster_id: clusterId,
      public_key: identity.publicKey.base64,
      pid: process.pid,
      started_at: this.#startedAt.toISOString(),
      uptime_seconds: Math.floor((Date.now() - this.#startedAt.getTime()) / 1000),
      ...this.#counters,
      ...this.#sequence.current,
      registered: this.#isRegistered,
      last_accepted_at: this.#lastAcceptedAt,
      waiting_heartbeats: this.#spool.size,
      dropped_heartbeats: this.#spool.dropped,
      interval_seconds: this.#interval / 1000,
      problems: this.#problems(),
      last_error: this.#lastError,
      health: this.#measurements?.health.status ?? null,
      metrics: this.#metrics(),
    }
  }

  /** Last measurements without device lists; null before the first heartbeat. */
  #metrics() {
    if (!this.#measurements) return null
    const { capacity, health, latency, jobs, services } = this.#measurements
    return { capacity, health, latency, jobs, services }
  }

  /** Sends heartbeats until `signal` aborts. The random initial delay spreads the load of nodes that start together. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stop = signal
    const delivery = this.#deliverAll(signal)
    const firstDelay = this.#options.initialDelay * (1 + Math.random() * 2)
    for (let delay = firstDelay; await slept(delay, signal); delay = 0) {
      await this.#measure()
      await this.#waitForNextHeartbeat(signal)
    }
    this.#wakeDelivery()
    await delivery
    this.#spool.persist()
  }

  /** Sends one heartbeat and attempts to deliver the queue. Returns true when everything was accepted. */
  async once(): Promise<boolean> {
    await sleep(this.#options.initialDelay)
    await this.#measure()
    while (this.#measurements && this.#spool.size && (await this.#deliverFirst(this.#measurements)) === null);
    this.#spool.persist()
    return this.#spool.size === 0 && this.#lastError === null
  }

  async #measure(): Promise<void> {
    try {
      const measurements = await this.#options.collect(this.#problems())
      const now = new Date()
      const position = this.#sequence.next()
      this.#spool.push(position, now, JSON.stringify({ ...position, measured_at: formatGoTime(now), ...measurements }))
      // With a backlog the next delivery may be minutes away; a killed agent would lose this heartbeat.
      if (this.#spool.size > 1) this.#spool.persist()
      this.#measurements = measurements
    } catch (error) {
      this.#recordFailure('not_measured', (error as Error).message)
    }
    this.#wakeDelivery()
  }

  /** Waits until the next heartbeat is due. A shorter interval from the API ends the wait early. */
  async #waitForNextHeartbeat(signal: AbortSignal): Promise<void> {
    const since = performance.now()
    const jitter = 0.95 + Math.random() * 0.1
    const remaining = () => this.#interval * jitter - (performance.now() - since)
    for (let left = remaining(); left > 0 && !signal.aborted; left = remaining()) {
      this.#intervalShortened = new AbortController()
      await slept(left, AbortSignal.any([signal, this.#intervalShortened.signal]))
    }
  }

  async #deliverAll(signal: AbortSignal): Promise<void> {
    let wait = 0
    while (!signal.aborted) {
      // Heartbeats of an earlier start wait for the first measurement, which identifies the current hardware.
      const measurements = this.#measurements
      if (!measurements || this.#spool.size === 0) {
        await new Promise<void>((resolve) => {
          this.#wakeDelivery = resolve
        })
        continue
      }
      const retryAfter = await this.#deliverFirst(measurements)
      wait = retryAfter === null ? 0 : Math.max(backoff(wait), retryAfter * (1 + Math.random() / 4))
      if (wait) this.#spool.persist()
      // Pauses between queued heartbeats limit the load when many nodes return at once.
      const pause = wait || (this.#spool.size ? 50 + Math.random() * 150 : 0)
      if (pause) await slept(pause, signal)
    }
  }

  /**
   * Delivers the oldest heartbeat, and registers first when the API does not know this node yet. Returns null on progress, otherwise the
   * milliseconds that the API asked to wait (0 when it did not).
   */
  async #deliverFirst(measurements: Measurements): Promise<number | null> {
    const { nodeId, clusterId, version, api, identity, register, log } = this.#options
    if (!this.#isRegistered) {
      const result = await register(measurements)
      if (!result.accepted) return this.#retryLater(result.code, result.message, result.retryAfterSeconds)
      this.#isRegistered = true
      log.info('registered')
    }
    const oldest = this.#spool.first()
    if (!oldest) return null
    const { hardware_fingerprint } = measurements
    const sender = { node_id: nodeId, cluster_id: clusterId, agent_version: version, hardware_fingerprint }
    const { outcome, code, message, retryAfterSeconds, intervalSeconds } = await deliver(api, oldest.json, sender, identity)
    this.#counters.total_heartbeats++
    if (intervalSeconds) this.#setInterval(intervalSeconds * 1000)
    if (outcome === 'unregistered') this.#isRegistered = false
    if (outcome === 'retry' || outcome === 'unregistered') return this.#retryLater(code, message, retryAfterSeconds)
    this.#spool.remove(oldest.position)
    if (outcome === 'rejected') this.#recordFailure(code, message)
    else {
      this.#lastAcceptedAt = new Date().toISOString()
      this.#lastError = null
    }
    return null
  }

  #setInterval(interval: number): void {
    const isShorter = interval < this.#interval
    this.#interval = interval
    if (isShorter) this.#intervalShortened.abort()
  }

  #retryLater(code: string, message: string, retryAfterSeconds: number | null): number {
    this.#recordFailure(code, message)
    return (retryAfterSeconds ?? 0) * 1000
  }

  #recordFailure(code: string, message: string): void {
    // A request aborted by shutdown is not a failure.
    if (this.#stop?.aborted) return
    this.#counters.failed_heartbeats++
    // Log a recurring error once at warn level.
    this.#options.log[this.#lastError?.code === code ? 'debug' : 'warn'](`${code}: ${message}`)
    this.#lastError = { at: new Date().toISOString(), code, message }
  }

  #problems(): string[] {
    return [this.#sequence.problem, this.#spool.problem].filter((problem) => problem !== null)
  }
}

/** Sleeps; returns false when aborted. */
async function slept(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return sleep(milliseconds, true, { signal }).catch(() => false)
}
