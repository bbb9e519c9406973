// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that no wrong byte reaches a task: map outputs that Spark itself wrote, in every mode, read
 * through the whole plug-in.
 */
package org.sparkrdma.shuffle.verify;
