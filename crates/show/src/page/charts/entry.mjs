export { axisX, axisY, dot, gridX, gridY, line, plot, ruleX, ruleY } from "@observablehq/plot";
export { brush } from "d3-brush";
export { select } from "d3-selection";
