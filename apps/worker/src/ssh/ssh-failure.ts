import type { PreflightStage, PreflightStageName } from '@muster/core/connections'

/** A host key that was offered but not accepted. */
export type OfferedKey = NonNullable<PreflightStage['offeredKey']>

/**
 * Why a machine could not be reached or used: the stage, the hop and the next step, for the operator. `hop` is the bastion's name,
 * or null for the node itself. The message contains no secret.
 */
export class SshFailure extends Error {
  readonly stage: PreflightStageName
  readonly hop: string | null
  readonly hint: string | null
  readonly offered: OfferedKey | null

  constructor(
    at: { stage: PreflightStageName; hop: string | null },
    message: string,
    hint: string | null = null,
    offered: OfferedKey | null = null,
  ) {
    super(message)
    this.name = 'SshFailure'
    this.stage = at.stage
    this.hop = at.hop
    this.hint = hint
    this.offered = offered
  }

  /**
   * Whether the connection failed, so that another attempt can succeed. Never for a host key or a login: repeated ones may lock the
   * account.
   */
  get isTransient(): boolean {
    return this.stage !== 'HOST_KEY' && this.stage !== 'AUTHENTICATION'
  }

  /** One line for a row's `error`: hop, message and hint. */
  get summary(): string {
    const where = this.hop === null ? '' : `Bastion ${this.hop}: `
    return `${where}${this.message}${this.hint ? ` ${this.hint}` : ''}`
  }
}
