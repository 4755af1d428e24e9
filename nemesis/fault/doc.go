// Package fault defines faults.
//
//   - A [Fault] changes a running system and undoes the change again: Start puts
//     it in force, Stop heals it within HealWithin.
//   - A [Kind] is a family of faults with a name, which a schedule uses: it looks at
//     the scene and makes a fault that fits.
//   - A [World] gives faults access to the system: to the ensemble, and to the links,
//     the session and the state of each client.
//   - A [Scene] is the world at one moment, without the clients and servers that other
//     faults hit.
//   - A [Pick] is the part of a schedule that decides which client or server to hit.
package fault
