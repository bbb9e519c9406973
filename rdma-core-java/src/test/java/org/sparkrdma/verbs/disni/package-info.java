// SPDX-License-Identifier: Apache-2.0
/** Tests of the DiSNI engine; those that need a device run in the guest. */
package org.sparkrdma.verbs.disni;
