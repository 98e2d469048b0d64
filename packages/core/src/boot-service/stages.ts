/**
 * Stages of a boot, in the order in which a node usually reaches them. A stage that nothing can observe on a node is never reached
 * there, so no stage waits for another one. To add a stage, add a line here and call `recordBootStage`.
 *
 * `stuckAfterSeconds`: a boot that reached this stage, and no later one within this time, is stuck.
 */
export const BOOT_STAGES = {
  /** The BMC reported that the node was switched on. */
  POWER_ON: { stuckAfterSeconds: 15 * 60 },
  /** The firmware fetched the boot script. */
  BOOT_SCRIPT: { stuckAfterSeconds: 10 * 60 },
  /** The kernel started; known only after a discovery, which reads when it booted. */
  KERNEL: { stuckAfterSeconds: 15 * 60 },
  /** cloud-init fetched its data. */
  CLOUD_INIT: { stuckAfterSeconds: 15 * 60 },
  /** cloud-init finished and used the token. */
  PHONE_HOME: { stuckAfterSeconds: 10 * 60 },
  /** The first heartbeat, or the first SSH connection. */
  FIRST_CONTACT: { stuckAfterSeconds: 15 * 60 },
  /** A discovery succeeded. */
  DISCOVERED: { stuckAfterSeconds: 15 * 60 },
  /** The node is READY; the boot has ended. */
  READY: { stuckAfterSeconds: null },
} as const satisfies Record<string, { stuckAfterSeconds: number | null }>

export type BootStage = keyof typeof BOOT_STAGES
export const BOOT_STAGE_NAMES = Object.keys(BOOT_STAGES) as [BootStage, ...BootStage[]]

export type StageTime = { stage: string; reachedAt: Date }
/** A stage that was reached. `durationMs`: since the stage before it; null for the first. */
export type TimelineEntry = { stage: BootStage; reachedAt: Date; durationMs: number | null }

/** The reached stages by time, with the time since the one before. Unknown stages, from a newer release, are left out. */
export function timelineOf(times: readonly StageTime[]): TimelineEntry[] {
  const known = times
    .filter((time): time is StageTime & { stage: BootStage } => time.stage in BOOT_STAGES)
    .sort((a, b) => a.reachedAt.getTime() - b.reachedAt.getTime() || rank(a.stage) - rank(b.stage))
  return known.map(({ stage, reachedAt }, i) => ({
    stage,
    reachedAt,
    durationMs: i === 0 ? null : reachedAt.getTime() - known[i - 1]!.reachedAt.getTime(),
  }))
}

const rank = (stage: BootStage) => BOOT_STAGE_NAMES.indexOf(stage)

/** The stage at which a boot that has not ended is stuck, and since when; null while it progresses. */
export function stuckAt(times: readonly StageTime[], now: Date): { stage: BootStage; since: Date } | null {
  const last = timelineOf(times).at(-1)
  if (!last) return null
  const { stuckAfterSeconds } = BOOT_STAGES[last.stage]
  if (stuckAfterSeconds === null || now.getTime() - last.reachedAt.getTime() < stuckAfterSeconds * 1000) return null
  return { stage: last.stage, since: last.reachedAt }
}
