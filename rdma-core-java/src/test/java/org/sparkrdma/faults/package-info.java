// SPDX-License-Identifier: Apache-2.0
/** Bounds of the times of faults, and comparisons of what was read under them. */
package org.sparkrdma.faults;
