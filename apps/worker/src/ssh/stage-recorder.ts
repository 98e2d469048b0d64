import type { PreflightStage, PreflightStageName } from '@muster/core/connections'
import { type OfferedKey, SshFailure } from './ssh-failure.ts'
import type { Target } from './target.ts'

/** Called with every stage at its end, in order. */
export type OnStage = (stage: PreflightStage) => void

/** Measures the stages of one hop, one at a time: `begin` starts the clock, `pass`, `skip` or `fail` ends it. */
export type StageRecorder = {
  begin(stage: PreflightStageName): void
  /** @param detail observation @param hint warning about something that works but should be fixed */
  pass(detail: string | null, hint?: string | null): void
  skip(stage: PreflightStageName, detail: string): void
  /** Ends the current stage and returns the failure to throw. */
  fail(message: string, hint?: string | null, offered?: OfferedKey): SshFailure
  readonly current: PreflightStageName
}

export function createStageRecorder(target: Pick<Target, 'hop'>, onStage: OnStage = () => {}): StageRecorder {
  let current: PreflightStageName = 'RESOLVE'
  let since = performance.now()
  const end = (state: PreflightStage['state'], detail: string | null, hint: string | null, offeredKey?: OfferedKey) =>
    onStage({
      stage: current,
      hop: target.hop,
      state,
      durationMs: Math.round(performance.now() - since),
      detail,
      hint,
      ...(offeredKey && { offeredKey }),
    })
  return {
    begin(stage) {
      current = stage
      since = performance.now()
    },
    pass: (detail, hint = null) => end('OK', detail, hint),
    skip(stage, detail) {
      this.begin(stage)
      end('SKIPPED', detail, null)
    },
    fail(message, hint = null, offered) {
      end('FAILED', message, hint, offered)
      return new SshFailure({ stage: current, hop: target.hop }, message, hint, offered)
    },
    get current() {
      return current
    },
  }
}
