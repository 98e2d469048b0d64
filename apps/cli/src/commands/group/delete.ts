import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { groupId } from '../../ids.ts'

export const groupDelete = () =>
  new Command('delete')
    .description('delete a group with its variables; its nodes stay')
    .argument('<name>')
    .action(async (name: string) => {
      const { deleteNodeGroup } = await request(
        graphql(`mutation GroupDelete($id: ID!) {
          deleteNodeGroup(id: $id) { __typename ... on Deleted { id } ... on Error { code message } }
        }`),
        { id: await groupId(name) },
      )
      orThrow(deleteNodeGroup)
      process.stderr.write(`Deleted ${name}.\n`)
    })
