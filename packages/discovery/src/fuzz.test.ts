import { fuzz } from '../test/fuzz.ts'

fuzz(60)
