import { outboundSettings } from '../kernel/outbound/index.ts'

/** Allows connections to servers that a test starts on this machine. */
export const LOOPBACK = outboundSettings.LOCAL_TARGETS.parse('127.0.0.0/8,::1')
