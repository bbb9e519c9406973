// SPDX-License-Identifier: Apache-2.0
/** Parts of the plug-in that run on the driver; their owner is the shuffle manager. */
package org.sparkrdma.shuffle.driver;
