// SPDX-License-Identifier: Apache-2.0
/**
 * Tests of the promise that no wrong byte reaches a task: map outputs that Spark itself has
 * written, in every way it can, read through everything that is ours.
 */
package org.sparkrdma.shuffle.verify;
