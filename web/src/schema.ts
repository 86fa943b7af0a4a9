// The schema of scenarios, which is loaded when the editor is first used.

import schema from "../../docs/scenario.schema.json";

export { complete } from "./complete.js";
export default schema;
