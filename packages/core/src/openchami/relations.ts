import { defineRelationsPart } from 'drizzle-orm'
import * as tables from './tables.ts'

export const relations = defineRelationsPart(tables)
