import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const SystemChecksQuery = graphql(`
  query SystemChecks {
    systemChecks { check source severity message nextStep }
  }
`)
export type SystemCheck = ResultOf<typeof SystemChecksQuery>['systemChecks'][number]
