export { CaCertificate } from './ca-certificate.ts'
export { certificateProblem } from './certificate-problem.ts'
export { HookSecret, HookUrl } from './hook-fields.ts'
export { isLocalAddress } from './local-addresses.ts'
export { endpointOf, resolveTarget, type TargetAddress, TargetError, targetIssues, targetsOf } from './resolve-target.ts'
export {
  type OutboundLimits,
  type OutboundRequest,
  type OutboundResponse,
  RequestError,
  sendOver,
  sendRequest,
} from './send-request.ts'
export { isListed, type LocalTarget, outboundSettings } from './settings.ts'
export { type CertificatePolicy, createVerifyingAgent } from './verifying-agent.ts'
